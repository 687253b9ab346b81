#!/usr/bin/env bash
# What the kernel families reach: a cold tune of each stencil, then its winner and the
# naive kernel timed interleaved in one process (all cells checked before, on a small
# grid and on this one). One line of Go benchmark text a stencil: the median of 30 to
# 50 samples. Then the best known schedules with one step a launch.
#
#   bench/h200/families.sh path/to/tune [ROWS] > bench/h200/families.txt
#
# ROWS is an extended regular expression of the rows wanted, as "stencil dtype size".
set -euo pipefail
tune=$1 rows=${2:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
median() { awk '{print $3}' | sort -n | awk '{v[NR]=$1} END {print NR, (v[int((NR+1)/2)]+v[int(NR/2)+1])/2}'; }
line() { # stencil dtype size schedule: from measure.txt
  read -r n ns < <(grep -F "/$4 " "$work/measure.txt" | median)
  awk -v n="$n" -v ns="$ns" -v s="$3" -v d="$2" 'BEGIN {c = 1; k = split(s, e, "x"); for (i = 1; i <= k; i++) c *= e[i];
    printf "%d %s ns/op %.1f GCells/s %.3f TB/s", n, ns, c / ns, 2 * c * (d == "float64" ? 8 : 4) / ns / 1000}'
}
head=1
measure() { # stencil dtype size schedules
  local args=()
  for s in "${@:4}"; do args+=(--schedule "$s"); done
  "$tune" measure --stencil "$1" --dtype "$2" --size "$3" --device 0 --store "$work/m.db" "${args[@]}" >"$work/measure.txt" 2>"$work/log"
  [ $head = 0 ] || grep -v '^Benchmark' "$work/measure.txt"
  head=0
}
tuned() { # stencil dtype size
  [[ "$1 $2 $3" =~ $rows ]] || return 0
  "$tune" --stencil "$1" --dtype "$2" --size "$3" --device 0 --store "$work/$RANDOM.db" --quiet >"$work/config.json"
  local won naive=global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0
  won=$(sed -n '/"schedule": {/,/}/s/.*"text": "\(.*\)",/\1/p' "$work/config.json" | head -1)
  measure "$1" "$2" "$3" "$won" "$naive"
  local n
  read -r _ n < <(grep -F "/$naive " "$work/measure.txt" | median)
  echo "BenchmarkTuned/$1/$2/$3 $(line "$1" "$2" "$3" "$won") $n naive-ns/step # $won"
}
single() { # stencil dtype size schedule
  [[ "one step $1 $2 $3" =~ $rows ]] || return 0
  measure "$@"
  echo "BenchmarkOneStep/$1/$2/$3 $(line "$@") # $4"
}
for d in float32 float64; do
  for s in jacobi2d jacobi2d9 jacobi2d9s gaussian2d gradient2d; do tuned $s $d 16384x16384; done
  for s in jacobi3d heat3d jacobi3d13 jacobi3d27 poisson3d; do tuned $s $d 512x512x512; done
done
tuned jacobi3d float32 768x768x768
for n in 512x704x404 509x701x403 256x256x256; do tuned jacobi3d float32 $n; done
for n in 4096x4096 4037x4037 1024x1024; do tuned jacobi2d float32 $n; done
single jacobi2d float32 16384x16384 global/gx=128/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0/vx=4
single jacobi2d float64 16384x16384 global/gx=256/gy=2/gz=1/wx=1/wy=4/wz=1/cw=0/zz=0/sp=0
for n in 512x512x512 768x768x768; do
  single jacobi3d float32 $n global/gx=32/gy=4/gz=2/wx=1/wy=4/wz=2/cw=0/zz=0/sp=0/vx=4
done
single jacobi3d float64 512x512x512 global/gx=128/gy=4/gz=1/wx=1/wy=2/wz=4/cw=0/zz=0/sp=0/vx=2
single jacobi3d float64 768x768x768 global/gx=64/gy=8/gz=1/wx=1/wy=4/wz=2/cw=0/zz=0/sp=0/vx=2
