#!/usr/bin/env bash
# Ten cold tunes (no store, no compiled kernels) with different seeds; after each, its winner is timed against the
# best of the recorded landscape, interleaved in one process. Prints Go benchmark text.
#
#   bench/h200/end2end.sh path/to/tune jacobi3d 512x512x512 SCHEDULE > bench/h200/end2end-jacobi3d.txt
#
# SCHEDULE is the landscape's best, as `tune --exhaustive` found it.
set -euo pipefail
tune=$1 stencil=$2 size=$3 best=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
within=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
  export TUNE_STORE=$work/$seed.db CUDA_CACHE_PATH=$work/kernels-$seed # NVRTC keeps what it compiles, since CUDA 12.9
  begin=$(date +%s%N)
  "$tune" --stencil "$stencil" --size "$size" --device 0 --seed $seed --quiet >"$work/config.json"
  wall=$(($(date +%s%N) - begin))
  won=$(sed -n '/"schedule": {/,/}/s/.*"text": "\(.*\)",/\1/p' "$work/config.json" | head -1)
  evaluated=$(sed -n 's/.*"evaluated": \([0-9]*\),/\1/p' "$work/config.json")
  sed -n '/"ties": \[/,/\]/s/.*"schedule": "\(.*\)",/\1/p' "$work/config.json" >"$work/$seed.agrees"
  echo "$won" | tee -a "$work/winners" >>"$work/$seed.agrees"
  args=(--schedule "$won")
  [ "$won" = "$best" ] || args+=(--schedule "$best")
  "$tune" measure --stencil "$stencil" --size "$size" --device 0 "${args[@]}" >"$work/measure.txt"
  median() { grep -F "/$1 " "$work/measure.txt" | awk '{print $3}' | sort -n | awk '{v[NR]=$1} END {print (v[int((NR+1)/2)]+v[int(NR/2)+1])/2}'; }
  w=$(median "$won")
  b=$w
  [ "$won" = "$best" ] || b=$(median "$best")
  [ $seed = 1 ] && grep -v '^Benchmark' "$work/measure.txt"
  ratio=$(awk -v w="$w" -v b="$b" 'BEGIN {printf "%.4f", w / b}')
  echo "BenchmarkTune/$stencil/f32/$size/seed=$seed 1 $wall ns/op $evaluated schedules $w winner-ns/step $b landscape-best-ns/step $ratio ratio # $won"
  if awk -v r="$ratio" 'BEGIN {exit !(r <= 1.02)}'; then within=$((within + 1)); fi
done
favourite=$(sort "$work/winners" | uniq -c | sort -rn | head -1 | awk '{print $2}')
same=$(grep -lFx "$favourite" "$work"/*.agrees | wc -l)
echo "# within 2 % of the landscape's best: $within of 10; the same schedule ($favourite), or one that lists it as a tie: $same of 10"
