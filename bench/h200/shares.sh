#!/usr/bin/env bash
# What equal shares give (sm of stream, decision 14): around winners of families.txt, with
# 1 to 16 blocks for an SM, beside the chunks that won. Every schedule is checked, then timed.
#
#   bench/h200/shares.sh path/to/tune > bench/h200/shares.txt
set -euo pipefail
tune=$1
sms=$("$tune" devices --json | sed -n 's/.*"sms": *\([0-9]*\).*/\1/p' | head -1)
echo "# $(date -u +%F), GCells/s, $sms SMs: bench/h200/shares.sh, $("$tune" --version | head -1)"
sweep() { # stencil dtype size schedule vary...
  local args=(--stencil "$1" --dtype "$2" --size "$3" --device 0 --quiet --schedule "$4")
  for v in "${@:5}"; do args+=(--vary "$v"); done
  echo
  echo "## $1 $2 $3, around $4"
  "$tune" sweep "${args[@]}" || echo "failed"
}
for d in float32 float64; do
  sweep jacobi3d $d 512x512x512 stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1 "sm=0,$sms" ck=1,2,3,4 ph=3,4,5 wp=4,8
done
sweep jacobi3d float32 768x768x768 stream/vx=2/vy=8/wp=8/ck=6/pf=4/mb=1/ph=4/pm=1 "sm=0,$sms" ck=1,2,4,6
sweep jacobi3d27 float32 512x512x512 stream/vx=2/vy=8/wp=8/ck=3/pf=2/mb=1/ph=3/pm=1 "sm=0,$sms" ck=1,2,3,5 wp=8,12 vy=6,8
sweep poisson3d float32 512x512x512 stream/vx=2/vy=8/wp=8/ck=3/pf=2/mb=1/ph=3/pm=1 "sm=0,$sms" ck=1,2,3,5
for s in jacobi2d gaussian2d; do
  for d in float32 float64; do
    sweep $s $d 16384x16384 stream/vx=4/vy=1/wp=1/ck=64/pf=4/mb=1/ph=4/pm=1 "sm=0,$sms" ck=4,8,16,32,64,128 vx=4,8 ph=3,4,8,10,12
  done
done
