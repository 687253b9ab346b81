#!/usr/bin/env bash
# What hardware counters say of 40 schedules: bytes between DRAM, L2 and the SMs in one
# launch. One line each: stencil dtype size schedule, then bytes read from and written to
# DRAM, read from L2 and written to it by the SMs. model/counters_test.go compares the
# cost model's. Needs ncu (Nsight Compute) and leave to read counters.
#
#   bench/h200/counters.sh path/to/tune > bench/h200/counters.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
metrics=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum

counted() { # stencil dtype size schedule
  local entry
  entry=$("$tune" source --stencil "$1" --dtype "$2" --size "$3" --schedule "$4" | sed -n 's/^#define ENTRY //p')
  # The kernel first runs on a small grid to be checked, then on this one: the launch
  # that moves most is of this one.
  ncu --target-processes all --clock-control none --print-units base --csv --metrics "$metrics" --kernel-name "$entry" --launch-count 8 \
    "$tune" measure --stencil "$1" --dtype "$2" --size "$3" --device 0 --store "$work/c.db" --schedule "$4" 2>"$work/log" |
    awk -F'","' -v head="$1 $2 $3 $4" '
      /^"[0-9]+"/ { v = $NF; gsub(/[",\r]/, "", v); name = $(NF - 2); if (v + 0 > most[name]) most[name] = v + 0 }
      END { printf "%s %.0f %.0f %.0f %.0f\n", head, most["dram__bytes_read.sum"], most["dram__bytes_write.sum"],
        32 * most["lts__t_sectors_srcunit_tex_op_read.sum"], 32 * most["lts__t_sectors_srcunit_tex_op_write.sum"] }'
}

echo "# bench/h200/counters.sh bin/tune, $("$tune" --version)"
nvidia-smi --query-gpu=name,uuid,driver_version --format=csv,noheader | head -1 | sed 's/^/# /'
two=(global/gx=128/gy=2/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 global/gx=64/gy=4/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0
  global/gx=32/gy=4/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0/vx=4 smalltile/gx=32/gy=32/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=3
  tile/gx=32/gy=16/gz=1/wx=2/wy=4/wz=1/cw=0/zz=0/ph=4 tile/gx=64/gy=8/gz=1/wx=1/wy=2/wz=1/cw=256/zz=0/ph=2
  slide/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ws=16/db=1 stream/vx=4/vy=1/wp=4/ck=32/pf=2/mb=1/ph=4)
three=(global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0 global/gx=32/gy=2/gz=4/wx=2/wy=4/wz=1/cw=0/zz=0/sp=0
  global/gx=32/gy=2/gz=4/wx=1/wy=2/wz=2/cw=0/zz=0/sp=0/vx=4 smalltile/gx=16/gy=8/gz=8/wx=1/wy=1/wz=1/cw=0/zz=0/ph=2
  tile/gx=32/gy=8/gz=4/wx=1/wy=2/wz=4/cw=0/zz=0/ph=2 tile/gx=64/gy=4/gz=1/wx=1/wy=2/wz=2/cw=256/zz=0/ph=1
  slide/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ws=32/db=1 stream/vx=2/vy=4/wp=8/ck=4/pf=2/mb=1/ph=2)
for s in "${two[@]}"; do
  counted jacobi2d float32 8192x8192 "$s"
  counted jacobi2d9 float32 8192x8192 "$s"
done
for s in "${three[@]}"; do
  counted jacobi3d float32 512x512x512 "$s"
  counted jacobi3d27 float32 512x512x512 "$s"
  counted poisson3d float32 512x512x512 "$s"
done
