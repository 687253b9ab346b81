#!/usr/bin/env bash
# Landscapes of ten catalogue stencils over all kernel families, in float32, and of two in
# float64: raw samples, statuses, registers, compile and device seconds of every schedule.
#
#   bench/h200/landscapes.sh path/to/tune OUT [STENCIL_DTYPE ...]
#
# Grids are larger than L2, whose residency would else be what is recorded. The spaces hold
# 9,000 to 33,700 schedules each and a 16-core host compiles 20 to 65 of them a second in
# random order (those of stream that differ in chunks alone share a source, which is compiled
# once in an exhaustive walk, but seldom met twice in a random one). So each space is walked at random for
# SECONDS_EACH (36): a fair sample of 600 to 2,400 schedules, in 7 minutes 30 for all twelve.
# WALK=--exhaustive SECONDS_EACH=800 records all of a space, in 3 minutes in 2D and 6 to 12 in 3D
# (bench/h200/landscapes is made so). A recording that is in OUT is gone on with.
set -euo pipefail
tune=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- jacobi3d_f32 jacobi2d_f32 gaussian2d_f32 jacobi2d9_f32 jacobi3d27_f32 poisson3d_f32 jacobi3d13_f32 jacobi3d_f64 jacobi2d_f64 gradient2d_f32 jacobi2d9s_f32 heat3d_f32
mkdir -p "$out"
for row; do
	stencil=${row%_*} short=${row#*_}
	dtype=float${short#f}
	case $stencil in
	jacobi3d) size=512x512x512 ;;
	*3d*) size=384x384x384 ;;
	*) size=8192x8192 ;;
	esac
	store=$(mktemp -u)
	"$tune" --stencil "$stencil" --dtype "$dtype" --size $size --device 0 --store "$store" \
		${WALK:---strategy random} --budget 1000000 --stall 1000000 --time-limit "${SECONDS_EACH:-36}s" \
		--record "$out/nvidia-h200_${stencil}_${short}_$size.jsonl.gz" >"$out/$row.json"
	rm -f "$store"
done
