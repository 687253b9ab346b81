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
# kernel, idea, and the chunks a tile has in each run
cat >"$work/runs" <<'LIST'
j3 base 3 4 5 7
j3 cl8 3 5 7 9 11
j3 cl4 3 4 5
j3 cl2 3 4 5
j3 s3 3
j3w4 base 3 4 5 6
j3w4 cl2 3 4 5 6
j3w4 cl4 3 4 5 6
j3w4 cl8 3 4 5 7 9
j3d base 3 4 5
j3d cl2 3 4 5 6 8
j3d cl4 3 4 5 6 8
j3e base 3 4 5 6
j3e cl2 3 4 5 6 8
j3e cl4 3 4 5 6 8
j3e cl8 3 4 5 6 8
j27d base 2 3 4 5
j27d cl2 2 3 4 5 6
j27d cl4 2 3 4 5 6
j13 base 3 4
j13 cl2 3 4 5
j13 cl4 3 4 5
j3 cs 3
j3 base 3
j3 h128 3
j3 base 3
j3 h256 3
j3 base 3
j3d cs 4
j2 cs 64
j2 base 64
g2 cs 64
g2 base 64
j3d h256 4
j2 h256 64
j2 base 64
g2 h256 64
g2 base 64
j3 bulk 3
j3d bulk 4
j2 bulk 64
g2 bulk 64
LIST
arguments() { # of ideas.py, for an idea on a kernel
  case $2 in
  base) ;;
  cl*) echo cl=${2#cl} $([ "$1" = j13 ] && echo reach=2) ;;
  h*) echo hint=${2#h} ;;
  s3) echo sched=3 ;;
  *) echo "$2" ;;
  esac
}
cut -d' ' -f1,2 "$work/runs" | sort -u | while read -r name idea; do
  python3 ideas.py "$work/$name.base" "$work/$name-$idea.cu" $(arguments "$name" "$idea")
done
ls "$work"/*.cu | xargs -P "$(nproc)" -I{} nvcc -w -O3 -std=c++17 -arch=sm_90 -o {}.x {}
echo "# bench/h200/ideas.sh tune: program, chunks, hash of the answer, grid, schedule it is made from"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1 | sed 's/^/# /'
while read -r name idea chunks; do
  for n in $chunks; do echo "$name-$idea $n $(timeout -s KILL 10 "$work/$name-$idea.cu.x" 14 "$n" 2>&1 | tail -1)"; done
done <"$work/runs"
