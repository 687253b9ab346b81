#!/bin/sh
# Strategies over the recorded landscapes: bench/search/replay.txt and a plot a
# landscape. The figures depend on the seeds alone, not on the machine; 100 seeds
# take about an hour of two cores.
#
#   bench/search/replay.sh [SEEDS]
set -eu
cd "$(dirname "$0")/../.."
seeds=${1:-100}
{
	echo "# bench/search/replay.sh $seeds: tune replay-bench --seeds $seeds --budget 1000 --plots bench/search"
	CGO_ENABLED=0 go run ./cmd/tune replay-bench --seeds "$seeds" --budget 1000 --plots bench/search
} >bench/search/replay.txt.new
mv bench/search/replay.txt.new bench/search/replay.txt
