#!/usr/bin/env bash
# What the cost model alone finds: for each stencil the schedule it ranks first, the best of
# its first ten and the best that a search of all finds (bayes, its default budget), timed
# interleaved in one process. Prints Go benchmark text.
#
#   bench/h200/model.sh path/to/tune > bench/h200/model.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found() { # store, arguments: the winner of a tune
  "$tune" --stencil "$stencil" --size "$size" --device 0 --quiet --store "$work/$stencil-$1.db" "${@:2}" >"$work/config.json"
  sed -n '/"schedule": {/,/}/s/.*"text": "\(.*\)",/\1/p' "$work/config.json" | head -1
}
median() { grep -F "/$1 " "$work/measure.txt" | awk '{print $3}' | sort -n | awk '{v[NR]=$1} END {print (v[int((NR+1)/2)]+v[int(NR/2)+1])/2}'; }
head=1
for stencil in jacobi2d jacobi2d9 jacobi2d9s gaussian2d gradient2d jacobi3d heat3d jacobi3d13 jacobi3d27 poisson3d; do
  size=16384x16384
  [[ $stencil == *2d* ]] || size=512x512x512
  # The naive kernel's three group shapes are evaluated before all others.
  one=$(found one --strategy model --budget 4)
  ten=$(found ten --strategy model --budget 13)
  all=$(found all)
  args=()
  for s in $(printf '%s\n' "$one" "$ten" "$all" | sort -u); do args+=(--schedule "$s"); done
  "$tune" measure --stencil "$stencil" --size $size --device 0 --store "$work/m.db" "${args[@]}" >"$work/measure.txt"
  [ $head = 0 ] || grep -v '^Benchmark' "$work/measure.txt"
  head=0
  b=$(median "$all")
  for n in one ten; do
    t=$(median "${!n}")
    echo "BenchmarkModel/$stencil/$size/first=$n 1 $t ns/op $b search-ns/step $(awk -v t="$t" -v b="$b" 'BEGIN {printf "%.4f", t / b}') ratio # ${!n}; search: $all"
  done
done
