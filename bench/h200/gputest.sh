#!/usr/bin/env bash
# Random legal schedules of every family on a GPU, all cells against the reference: CASES
# of random programs and the catalogue, and EACH of every stencil of the catalogue. One
# process a processor, since threads of one wait for NVRTC's lock.
#
#   go test -c -o cuda.test ./device/cuda
#   bench/h200/gputest.sh path/to/cuda.test CASES EACH [SEED] > bench/h200/gputest.txt
set -uo pipefail
test=$(realpath "$1") cases=$2 each=$3 seed=${4:-1} n=${PROCESSES:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$0")/../../device/cuda"
list=($(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i}'))
part() { # of what, which process
  echo $((($1 + n - 1 - $2) / n))
}
for ((i = 0; i < n; i++)); do
  taskset -c "${list[i % ${#list[@]}]}" "$test" -test.v -gpu=require -test.timeout 30m -test.run "TestGPU(Random|Catalogue).*References" \
    -cases "$(part "$cases" $i)" -each "$(part "$each" $i)" -seed $((seed + i)) >"$work/$i.txt" 2>&1 &
done
wait
echo "# bench/h200/gputest.sh cuda.test $cases $each $seed: $n processes, $SECONDS s"
grep -h -m1 "cuda NVIDIA" "$work"/*.txt | sed 's/^[^{]*{cuda \(NVIDIA [A-Za-z0-9]*\).*/# \1/' | sort | uniq -c
grep -h "schedules checked" "$work"/*.txt | awk '{right += $2; all += $4} END {print right " of " all " schedules compared"}'
grep -h "compiling" "$work"/*.txt | sed 's/^ *[a-z_]*.go:[0-9]*: //' | sort -t' ' -k2,2 -k7,7nr | awk '!seen[$2]++'
if grep -l -E "^--- FAIL|panic|fatal|^FAIL" "$work"/*.txt >"$work/bad"; then
  for f in $(cat "$work/bad"); do grep -h -A12 -E "_test.go|panic|fatal" "$f" | grep -v "compiling\|checked" | head -40; done
  echo "FAILED in $(wc -l <"$work/bad") processes"
  exit 1
fi
[ "$(grep -l "^PASS" "$work"/*.txt | wc -l)" = "$n" ] && echo "all right"
