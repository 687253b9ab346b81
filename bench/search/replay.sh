#!/bin/sh
# Strategies over the recorded landscapes: bench/search/replay.txt. Of those in
# bench/h200/landscapes that hold nine tenths of their space, else of the samples that ship
# with the program. The figures depend on the seeds alone, not on the machine; 40 seeds take
# 22 minutes of one core.
#
#   bench/search/replay.sh [SEEDS]
set -eu
cd "$(dirname "$0")/../.."
seeds=${1:-40}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/study" ./cmd/study
{
	set -- --seeds "$seeds" --budget 400
	for entrant in bayes bayes/unseen bayes/middle bayes/none bayes/inverted model model/middle cmaes tpe random; do set -- "$@" --entrant $entrant; done
	echo "# bench/search/replay.sh $seeds: study replay-bench $*"
	for shipped in device/replay/landscapes/*.jsonl.gz; do
		file=bench/h200/landscapes/$(basename "$shipped")
		space=1 records=0
		if [ -f "$file" ]; then
			space=$(gzip -dc "$file" | head -1 | sed 's/.*"space":\([0-9]*\).*/\1/') records=$(($(gzip -dc "$file" | wc -l) - 1))
		fi
		[ $((10 * records)) -ge $((9 * space)) ] || file=$shipped
		echo "# $file"
		"$work/study" replay-bench --landscape "./$file" "$@"
	done
} >bench/search/replay.txt.new
mv bench/search/replay.txt.new bench/search/replay.txt
