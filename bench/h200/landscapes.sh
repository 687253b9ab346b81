#!/usr/bin/env bash
# Landscapes of ten catalogue stencils over all kernel families, in float32:
# raw samples, statuses, registers, compile and device seconds of every schedule.
#
#   bench/h200/landscapes.sh path/to/tune OUT [STENCIL ...]
#
# The ten spaces hold 43,227 schedules in 2D (on 4096x4096) and 72,689 in 3D (on
# 256x256x256), about a quarter of them stream schedules that share 2,800 sources.
# On a 16-core host the recordings of jacobi2d (8192x8192) and jacobi3d (512x512x512)
# took 13.7 and 18 ms a schedule; of that compiling, 15 at once, took 9 to 10 ms.
# On these smaller grids checking and timing costs about 4 ms instead of 10, so that
# compiling sets the pace: 10 to 12 ms a schedule, 1,150 to 1,400 s in all. The spaces
# are therefore walked in random order with a limit of 85 s (2D) and 140 s (3D) each:
# 1,125 s, and with baselines and finals under 20 minutes. What the limit cuts off
# is a random part, so that the landscape stays a fair sample of its space. TIME2=1h
# TIME3=1h records all of it. Some 5 MB in all.
#
# Run several stencils a call where calls are limited: the five of 2D take 8 minutes,
# those of 3D 12.
set -euo pipefail
tune=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- jacobi2d jacobi2d9 jacobi2d9s gaussian2d gradient2d jacobi3d heat3d jacobi3d13 jacobi3d27 poisson3d
mkdir -p "$out"
for stencil; do
	case $stencil in
	*2d*) size=4096x4096 limit=${TIME2:-85s} ;;
	*) size=256x256x256 limit=${TIME3:-140s} ;;
	esac
	store=$(mktemp -u)
	"$tune" --stencil "$stencil" --dtype float32 --size $size --device 0 --store "$store" \
		--strategy random --budget 1000000 --stall 1000000 --time-limit "$limit" \
		--record "$out/nvidia-h200_${stencil}_f32_$size.jsonl.gz" >"$out/$stencil.json"
	rm -f "$store"
done
