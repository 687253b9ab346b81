#!/usr/bin/env bash
# Ideas that stream does not have, tried on the programs of its winners (bench/h200/ideas.py says
# how each is made): milliseconds a launch, the fastest of 14, and a hash of all cells after them.
#
#   bench/h200/ideas.sh path/to/tune > bench/h200/ideas.txt
#
# Needs nvcc, python3 and a GPU of compute capability 9.0.
set -uo pipefail
tune=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program() { # name stencil dtype size schedule
  "$tune" source --program --stencil "$2" --dtype "$3" --size "$4" --schedule "stream/$5" >"$work/$1.base"
}
program j3 jacobi3d float32 512x512x512 vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1
program j3w4 jacobi3d float32 512x512x512 vx=2/vy=8/wp=4/ck=3/pf=4/mb=1/ph=4/pm=1
program j3d jacobi3d float64 512x512x512 vx=2/vy=3/wp=12/ck=4/pf=4/mb=1/ph=4/pm=1
program j3e jacobi3d float64 512x512x512 vx=2/vy=6/wp=4/ck=4/pf=2/mb=1/ph=3/pm=1
program j27d jacobi3d27 float64 512x512x512 vx=2/vy=4/wp=8/ck=4/pf=4/mb=1/ph=3/pm=1
program j13 jacobi3d13 float32 512x512x512 vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=2/pm=1
program j2 jacobi2d float32 16384x16384 vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=10/pm=1
program g2 gaussian2d float32 16384x16384 vx=8/vy=1/wp=4/ck=64/pf=4/mb=1/ph=4/pm=1
while read -r name idea arguments; do
  python3 ideas.py "$work/$name.base" "$work/$name-$idea.cu" $arguments
done <<'LIST'
j3 base
j3 cl8 cl=8
j3 cl4 cl=4
j3 cl2 cl=2
j3 cs cs
j3 h128 hint=128
j3 h256 hint=256
j3 s3 sched=3
j3 bulk bulk
j3w4 base
j3w4 cl2 cl=2
j3w4 cl4 cl=4
j3w4 cl8 cl=8
j3d base
j3d cl2 cl=2
j3d cl4 cl=4
j3d cs cs
j3d h256 hint=256
j3d bulk bulk
j3e base
j3e cl2 cl=2
j3e cl4 cl=4
j3e cl8 cl=8
j27d base
j27d cl2 cl=2
j27d cl4 cl=4
j13 base
j13 cl2 cl=2 reach=2
j13 cl4 cl=4 reach=2
j2 base
j2 cs cs
j2 h256 hint=256
j2 bulk bulk
g2 base
g2 cs cs
g2 h256 hint=256
g2 bulk bulk
LIST
ls "$work"/*.cu | xargs -P "$(nproc)" -I{} nvcc -w -O3 -std=c++17 -arch=sm_90 -o {}.x {}
run() { # program, then the chunks a tile has
  for chunks in "${@:2}"; do echo "$1 $chunks $(timeout -s KILL 10 "$work/$1.cu.x" 14 "$chunks" 2>&1 | tail -1)"; done
}
echo "# bench/h200/ideas.sh tune: program, chunks, hash of the answer, grid, schedule it is made from"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1 | sed 's/^/# /'
run j3-base 3 4 5 7; run j3-cl8 3 5 7 9 11; run j3-cl4 3 4 5; run j3-cl2 3 4 5; run j3-s3 3
run j3w4-base 3 4 5 6; run j3w4-cl2 3 4 5 6; run j3w4-cl4 3 4 5 6; run j3w4-cl8 3 4 5 7 9
run j3d-base 3 4 5; run j3d-cl2 3 4 5 6 8; run j3d-cl4 3 4 5 6 8
run j3e-base 3 4 5 6; run j3e-cl2 3 4 5 6 8; run j3e-cl4 3 4 5 6 8; run j3e-cl8 3 4 5 6 8
run j27d-base 2 3 4 5; run j27d-cl2 2 3 4 5 6; run j27d-cl4 2 3 4 5 6
run j13-base 3 4; run j13-cl2 3 4 5; run j13-cl4 3 4 5
for idea in cs h128 h256; do run j3-$idea 3; run j3-base 3; done
for idea in cs h256; do run j3d-$idea 4; run j2-$idea 64; run j2-base 64; run g2-$idea 64; run g2-base 64; done
run j3-bulk 3; run j3d-bulk 4; run j2-bulk 64; run g2-bulk 64
