#!/usr/bin/env bash
# What decision 18 changed in stream, one change after the other: milliseconds a launch of the
# winners' programs, the fastest of 20, of two passes. OLD is a build of commit 4f32b35.
#
#   bench/h200/rounds.sh OLD path/to/tune > bench/h200/rounds.txt
#
# order: tiles of one kind start one after the other. own: and the rows to write are a number
# of its own. two: own, and the loop holds two rounds where it held four. now: all of it, tiles
# within the grid having rounds of their own whatever the stencil.
set -euo pipefail
old=$1 now=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/profile.sh"
variants() { # stencil dtype size schedule variants
  local of="$1 $2 $3 stream/$4" v tune file rounds
  rounds=$("$old" source --stencil "$1" --dtype "$2" --size "$3" --schedule "stream/$4" | sed -n 's/^constexpr int UNROLL = \(.*\);/\1/p')
  for v in "${@:5}"; do
    n=$((n + 1)) file=$work/$(printf %03d $n) tune=$now
    [ $v != old ] || tune=$old
    "$tune" source --program --stencil "$1" --dtype "$2" --size "$3" --schedule "stream/$4" >"$file.cu"
    case $v in order | own | two) sed -i 's/^constexpr bool WITHIN = .*/constexpr bool WITHIN = DIMS == 3 \&\& SUMS \&\& !DIAGONAL \&\& REACH_X <= 1 \&\& BOUNDARY != WRAP;/' "$file.cu" ;; esac
    case $v in order | own) sed -i "s/^constexpr int UNROLL = .*/constexpr int UNROLL = $rounds;/" "$file.cu" ;; esac
    [ $v != order ] || sed -i '/asm("" : "+r"(at.writes))/d' "$file.cu"
    echo "$of $v" >"$file.head"
  done
}
big=16384x16384 cube=512x512x512
variants jacobi2d float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=10/sm=132/pm=1 old own
variants jacobi2d float32 8192x8192 vx=8/vy=1/wp=1/ck=32/pf=2/mb=1/ph=12/pm=1 old own
variants jacobi2d float32 8192x8192 vx=8/vy=1/wp=1/ck=64/pf=4/mb=1/ph=8/pm=1 old own
variants jacobi2d float32 4096x4096 vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=8/sm=132/pm=1 old own
variants jacobi2d float32 4037x4037 vx=4/vy=1/wp=1/ck=8/pf=4/mb=1/ph=12/sm=132/pm=1 old own
variants jacobi2d float32 1024x1024 vx=2/vy=1/wp=1/ck=16/pf=4/mb=1/ph=10/pm=1 old own
variants jacobi2d float64 $big vx=4/vy=1/wp=1/ck=32/pf=4/mb=1/ph=8/pm=1 old own
variants jacobi2d9 float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=8/sm=132/pm=1 old own
for s in "float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=6/sm=132/pm=1" "float32 8192x8192 vx=8/vy=1/wp=1/ck=32/pf=2/mb=1/ph=6/pm=1" \
  "float32 8192x8192 vx=4/vy=1/wp=1/ck=32/pf=2/mb=1/ph=6/pm=1" "float64 $big vx=4/vy=1/wp=1/ck=16/pf=4/mb=1/ph=6/sm=132/pm=1"; do
  variants jacobi2d9s $s old own two
done
for s in "float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=4/sm=132/pm=1" "float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=5/sm=132/pm=1" \
  "float32 8192x8192 vx=8/vy=1/wp=1/ck=32/pf=2/mb=1/ph=5/pm=1" "float64 $big vx=4/vy=1/wp=1/ck=16/pf=4/mb=1/ph=4/sm=132/pm=1"; do
  variants gaussian2d $s old own two
done
variants gradient2d float32 $big vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=5/sm=132/pm=1 old own
variants gradient2d float32 8192x8192 vx=4/vy=1/wp=1/ck=32/pf=2/mb=1/ph=6 old own now
variants hotspot2d float32 8192x8192 vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=6/sm=132/pm=1 old own
variants acoustic3d float32 $cube vx=2/vy=4/wp=8/ck=2/pf=2/mb=1/ph=1/pm=1 old own now
variants acoustic3d float32 $cube vx=2/vy=2/wp=16/ck=2/pf=2/mb=1/ph=1/pm=1 old own now
for s in "float32 $cube vx=2/vy=8/wp=8/ck=3/pf=2/mb=1/ph=4/pm=1" "float32 $cube vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1" \
  "float32 768x768x768 vx=2/vy=6/wp=12/ck=10/pf=2/mb=1/ph=4/pm=1" "float32 512x704x404 vx=2/vy=6/wp=12/ck=4/pf=4/mb=1/ph=4/pm=1" \
  "float32 509x701x403 vx=2/vy=6/wp=12/ck=4/pf=1/mb=1/ph=4" "float32 256x256x256 vx=2/vy=8/wp=8/ck=5/pf=4/mb=1/ph=5/pm=1" \
  "float32 198x593x395 vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=5/pm=1" "float64 $cube vx=2/vy=3/wp=12/ck=4/pf=4/mb=1/ph=4/pm=1" "float64 $cube vx=2/vy=3/wp=12/ck=4/pf=2/mb=1/ph=4/pm=1"; do
  variants jacobi3d $s old order now
done
variants heat3d float32 $cube vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1 old order now
variants heat3d float64 $cube vx=2/vy=3/wp=12/ck=4/pf=2/mb=1/ph=4/pm=1 old order now
variants poisson3d float32 $cube vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1 old order now
variants poisson3d float32 384x384x384 vx=2/vy=6/wp=12/ck=3/pf=4/mb=1/ph=3/pm=1 old order now
variants poisson3d float64 $cube vx=2/vy=3/wp=12/ck=1/pf=2/mb=1/ph=3/sm=132/pm=1 old order now
variants jacobi3d27 float32 $cube vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1 old own now
variants jacobi3d27 float32 384x384x384 vx=2/vy=6/wp=12/ck=3/pf=2/mb=1/ph=3/pm=1 old own now
variants jacobi3d27 float64 $cube vx=2/vy=4/wp=8/ck=2/pf=4/mb=1/ph=3/sm=132/pm=1 old own now
for s in "float32 $cube vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=2/pm=1" "float32 384x384x384 vx=2/vy=6/wp=12/ck=3/pf=2/mb=1/ph=2/pm=1" "float64 $cube vx=2/vy=3/wp=12/ck=4/pf=2/mb=1/ph=2/pm=1"; do
  variants jacobi3d13 $s old own two now
done
variants hotspot3d float32 $cube vx=2/vy=6/wp=8/ck=1/pf=2/mb=1/ph=4/pm=1 old own
echo "# bench/h200/rounds.sh old now, $("$now" --version)"
race
