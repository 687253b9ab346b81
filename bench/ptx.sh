#!/usr/bin/env bash
# How many instructions clang makes of the kernels in h200/families.txt, by two builds of
# tune: whether a change of the sources changes what they compile to, without a GPU.
# Counts are of the PTX, whole kernel, interior and edges. Needs clang with the NVPTX target.
#
#   bench/ptx.sh path/to/old/tune path/to/new/tune > bench/ptx.txt
set -euo pipefail
old=$1 new=$2 here=$(cd "$(dirname "$0")" && pwd)
clang=$(command -v clang++ clang++-19 clang++-16 | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count() { # tune stencil dtype size schedule
  "$1" source --stencil "$2" --dtype "$3" --size "$4" --schedule "$5" >"$work/k.cu" 2>/dev/null || { echo -; return; }
  "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_90 -Xclang -target-feature -Xclang +ptx80 -std=c++17 -O3 \
    -ffp-contract=fast -include "$here/../device/cuda/testdata/clang.h" -S -o - "$work/k.cu" 2>/dev/null | grep -cE '^[[:space:]]+(@!?%p[0-9]+ )?[a-z][a-z0-9_.]* .*;' || true
}
echo "# $(date -u +%F), PTX instructions, old and new: bench/ptx.sh, $("$clang" --version | head -1)"
awk '/^# [a-z]+\// { s = $2 } /^Benchmark/ { split($1, n, "/"); print n[2], n[3], n[4], s }' "$here/h200/families.txt" | while read -r args; do
  # shellcheck disable=SC2086
  echo "$args $(count "$old" $args) $(count "$new" $args)"
done
