#!/bin/sh
# Tunes spread over 1, 2, 4 and 8 recorded GPUs, in simulated time: bench/search/several.txt. No two GPUs were at hand: what is
# simulated is the queue of the compilers and that of each GPU, by the seconds that one H200 and 16 cores took.
# Members are equal, and losing to each other's memory, power or bus is not simulated.
#
#   bench/search/several.sh [TUNE]
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tune=${1:-}
[ "$tune" ] || { tune=$work/tune && CGO_ENABLED=0 go build -o "$tune" ./cmd/tune; }

# recording FILE CORES: the same with so many compilations at once.
recording() {
	to=$work/$2-$(basename "$1")
	[ -f "$to" ] || gzip -dc "$1" | sed "1s/\"compilers\":[0-9]*/\"compilers\":$2/" | gzip >"$to"
	echo "$to"
}

# took FILE GPUS ARGS: the simulated seconds, the evaluations and the schedule of a tune of a recording.
took() {
	file=$1 gpus=$2 list=replay:$1
	shift 2
	while [ "$gpus" -gt 1 ]; do list=$list,replay:$file gpus=$((gpus - 1)); done
	"$tune" --quiet --store "$work/store$$.db" --retune --device "$list" "$@" |
		awk -F '[ ,":]+' '/"text"/ && !text { text = $3 } /"evaluated"/ { n = $3 } /^    "seconds"/ { s = $3 } END { print text, n, s }'
}

echo "# bench/search/several.sh: simulated on recordings, no two GPUs were at hand"
echo "# search, stencil, GPUs, cores, schedule, evaluations, simulated seconds"
for gpus in 1 2 4 8; do
	for cores in 16 $((16 * gpus)); do
		file=$(recording device/replay/landscapes/nvidia-h200_jacobi3d_f32_512x512x512.jsonl.gz "$cores")
		echo "exhaustive jacobi3d $gpus $cores $(took "$file" "$gpus" --stencil jacobi3d --exhaustive)"
		[ "$gpus" != 1 ] || break
	done
	file=$(recording device/replay/landscapes/nvidia-h200_jacobi2d_f32_8192x8192.jsonl.gz 16)
	echo "bayes jacobi2d $gpus 16 $(took "$file" "$gpus" --stencil jacobi2d)"
done

# Many tunes, one on each GPU at a time, in the order of the list: with 16 cores in all each has its share of
# them, which is the least that shared compilers give.
echo "# tunes of the five recordings in 2D and float32, one on each GPU at a time: GPUs, cores, simulated seconds until"
echo "# all have ended, tunes a second of a list without end"
for cores in 2 4 8 16; do
	for f in device/replay/landscapes/*2d*_f32_*.jsonl.gz; do
		name=$(basename "$f" .jsonl.gz)
		name=${name#nvidia-h200_}
		took "$(recording "$f" $cores)" 1 --stencil "${name%%_*}" --size "${name##*_}" | awk '{ print $3 }'
	done >"$work/tunes-$cores"
done
for gpus in 1 2 4 8; do
	for cores in 16 $((16 * gpus)); do
		awk -v n=$gpus -v c=$cores '{ k = 1; for (i = 2; i <= n; i++) if (t[i] < t[k]) k = i; t[k] += $1; if (t[k] > most) most = t[k] } { sum += $1 } END { printf "tunes %d %d %.1f %.2f\n", n, c, most, n * NR / sum }' "$work/tunes-$((cores / gpus))"
		[ "$gpus" != 1 ] || break
	done
done
