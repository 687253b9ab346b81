#!/usr/bin/env bash
# Random legal schedules of every family on a GPU, all cells against the reference: CASES
# of random programs and the catalogue, and EACH of every stencil of the catalogue. One
# process a processor, since threads of one wait for NVRTC's lock. They go in rounds of some
# 1,000 schedules, each told when it ends, so that a run that is cut off has told what it did.
#
#   go test -c -o cuda.test ./device/cuda
#   bench/h200/gputest.sh path/to/cuda.test CASES EACH [SEED] > bench/h200/gputest.txt
set -uo pipefail
test=$(realpath "$1") cases=$2 each=$3 seed=${4:-1} n=${PROCESSES:-$(nproc)} stencils=25
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$0")/../../device/cuda"
list=($(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}'))
part() { # of what, which, of how many
  echo $((($1 + $3 - 1 - $2) / $3))
}
round() { # cases, each, seed
  rm -f "$work"/*
  local begin=$SECONDS
  for ((i = 0; i < n; i++)); do
    taskset -c "${list[i % ${#list[@]}]}" "$test" -test.v -gpu=require -test.timeout 30m -test.run "TestGPU(Random|Catalogue).*References" \
      -cases "$(part "$1" $i $n)" -each "$(part "$2" $i $n)" -seed $(($3 + i)) >"$work/$i.txt" 2>&1 &
  done
  wait
  echo "# $1 cases, $2 of each stencil, seed $3: $n processes, $((SECONDS - begin)) s"
  grep -h -m1 "cuda NVIDIA" "$work"/*.txt | sed 's/^[^{]*{cuda \(NVIDIA [A-Za-z0-9]*\).*/# \1/' | sort | uniq -c
  grep -h "schedules checked" "$work"/*.txt | awk '{right += $2; all += $4} END {print right " of " all " schedules compared"}'
  grep -h "compiling" "$work"/*.txt | sed 's/^ *[a-z_]*.go:[0-9]*: //' | sort -t" " -k2,2 -k8,8nr | awk '!seen[$2]++'
  if grep -l -E "^--- FAIL|panic|fatal|^FAIL" "$work"/*.txt >"$work/bad"; then
    for f in $(cat "$work/bad"); do grep -h -A12 -E "_test.go|panic|fatal" "$f" | grep -v "compiling\|checked" | head -40; done
    echo "FAILED in $(wc -l <"$work/bad") processes"
    return 1
  fi
  [ "$(grep -l "^PASS" "$work"/*.txt | wc -l)" = "$n" ] && echo "all right"
}
echo "# bench/h200/gputest.sh cuda.test $cases $each $seed"
rounds=$(((cases + stencils * each + 999) / 1000)) status=0
for ((r = 0; r < rounds; r++)); do
  round "$(part "$cases" $r $rounds)" "$(part "$each" $r $rounds)" $((seed + 1000 * r)) || status=1
done
exit $status
