#!/usr/bin/env bash
# Programs of one schedule side by side: milliseconds a launch, the fastest of 20, of two passes.
# LIST has lines "stencil dtype size schedule variant...".
#
#   bench/h200/variants.sh OLD NOW LIST > RESULT
#
# old, now: as builds OLD and NOW of tune write them. What was raced, and the commit of OLD:
# parts.list (2f57db9; docs/decisions/0019) and beside.list (20504d0; 0020) are rows that are no whole vectors, units.list (20504d0; 0021)
# sums with fewer operations, fill.list (20504d0; 0022) chunks in place of shares. abreast.list is of shares that tiles' ends cut, which
# are no more: the script of commit 485f6a9 knew how to keep them apart or abreast (0019).
set -euo pipefail
old=$1 now=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/profile.sh"
while read -r stencil dtype size schedule variants; do
  for v in $variants; do
    n=$((n + 1)) file=$work/$(printf %03d $n) tune=$now
    [ $v != old ] || tune=$old
    "$tune" source --program --stencil "$stencil" --dtype "$dtype" --size "$size" --schedule "$schedule" >"$file.cu"
    echo "$stencil $dtype $size $schedule $v" >"$file.head"
  done
done <"$list"
echo "# bench/h200/variants.sh OLD NOW $(basename "$list"), $("$now" --version)"
race
