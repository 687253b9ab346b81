#!/usr/bin/env bash
# Walks whole spaces, and goes on with those that are there: raw samples, statuses, registers, compile and
# device seconds of every schedule, in FOLDER (bench/h200/landscapes holds what was recorded).
#
#   bench/h200/whole.sh path/to/tune FOLDER SECONDS STENCIL_DTYPE ...
#
# SECONDS bounds each; 16 cores take 3 minutes for a 2D space and 7 to 12 for a 3D one.
set -euo pipefail
tune=$1 out=$2 seconds=$3
shift 3
mkdir -p "$out"
for row; do
	stencil=${row%_*} short=${row#*_}
	case $stencil in
	jacobi3d) size=512x512x512 ;;
	*3d*) size=384x384x384 ;;
	*) size=8192x8192 ;;
	esac
	store=$(mktemp -u)
	"$tune" --stencil "$stencil" --dtype "float${short#f}" --size $size --device 0 --store "$store" --exhaustive \
		--budget 1000000 --stall 1000000 --time-limit "${seconds}s" --record "$out/nvidia-h200_${row}_$size.jsonl.gz" >/dev/null
	rm -f "$store"
done
