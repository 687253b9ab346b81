#!/usr/bin/env bash
# What hardware counters say of 40 schedules: bytes between DRAM, L2 and the SMs in one
# launch. One line each: stencil dtype size schedule, then bytes read from and written to
# DRAM, read from L2 and written to it by the SMs. model/counters_test.go compares the
# cost model's. Needs what profile.sh does; about 3 minutes.
#
#   bench/h200/counters.sh path/to/tune > bench/h200/counters.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/profile.sh"
metrics=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum

counted() { # number of a program
  counters "$1" "$metrics" | awk -v head="$(cat "$work/$1.head")" '
    { of[$1] = $2 + 0 }
    END { printf "%s %.0f %.0f %.0f %.0f\n", head, of["dram__bytes_read.sum"], of["dram__bytes_write.sum"],
      32 * of["lts__t_sectors_srcunit_tex_op_read.sum"], 32 * of["lts__t_sectors_srcunit_tex_op_write.sum"] }'
}

echo "# bench/h200/counters.sh bin/tune, $("$tune" --version)"
device
two=(global/gx=128/gy=2/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 global/gx=64/gy=4/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0
  global/gx=32/gy=4/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0/vx=4 smalltile/gx=32/gy=32/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3
  tile/gx=32/gy=16/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/ph=4 tile/gx=64/gy=8/gz=1/wx=1/wy=2/wz=1/cw=256/zz=0/ph=2
  slide/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=16/db=1 stream/vx=4/vy=1/wp=4/ck=32/pf=2/mb=1/ph=4)
three=(global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 global/gx=32/gy=2/gz=4/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0
  global/gx=32/gy=2/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/sp=0/vx=4 smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2
  tile/gx=32/gy=8/gz=4/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2 tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=1
  slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=1 stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2)
for s in "${two[@]}"; do
  wanted jacobi2d float32 8192x8192 "$s"
  wanted jacobi2d9 float32 8192x8192 "$s"
done
for s in "${three[@]}"; do
  wanted jacobi3d float32 512x512x512 "$s"
  wanted jacobi3d27 float32 512x512x512 "$s"
  wanted poisson3d float32 512x512x512 "$s"
done
wait
for i in $(seq $n); do counted "$i"; done
