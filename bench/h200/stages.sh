#!/usr/bin/env bash
# What fusing the stages of a time step gives (fs=1): srad2 by each family that can, with
# and without, and then the winner of a cold tune beside the naive kernel.
#
#   bench/h200/stages.sh path/to/tune > bench/h200/stages.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "# $(date -u +%F), GCells/s: bench/h200/stages.sh, $("$tune" --version | head -1)"
sweep() { # dtype schedule vary...
  local args=() dtype=$1 schedule=$2
  for v in "${@:3}"; do args+=(--vary "$v"); done
  echo
  echo "## srad2 $dtype 8192x8192, around $schedule"
  "$tune" sweep --stencil srad2 --dtype "$dtype" --size 8192x8192 --device 0 --quiet --schedule "$schedule" "${args[@]}" || echo "failed"
}
for d in float32 float64; do
  sweep $d global/gx=32/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 fs=0,1 vx=1,2,4 wy=1,2,4,8
  sweep $d tile/gx=32/gy=8/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/ph=1 fs=0,1 ph=1,2,3,4 wx=1,2 wy=2,4
  sweep $d smalltile/gx=32/gy=16/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1 fs=0,1 ph=1,2
done
for d in float32 float64; do
  echo
  "$tune" --stencil srad2 --dtype $d --size 8192x8192 --device 0 --store "$work/$d.db" 2>&1 >"$work/config.json" | tail -1
done
