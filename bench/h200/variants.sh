#!/usr/bin/env bash
# Programs of one schedule side by side: milliseconds a launch, the fastest of 20, of two passes.
# LIST has lines "stencil dtype size schedule variant...".
#
#   bench/h200/variants.sh OLD NOW LIST > RESULT
#
# old, now: as builds OLD and NOW of tune write them. apart, abreast: as NOW does, but shares
# are never, or wherever there are blocks for all tiles, as many for each tile.
# parts.list (OLD of commit 2f57db9; parts.txt is of rows in parts without shares abreast) is rows that are no whole vectors,
# abreast.list shares that tiles' ends cut: docs/decisions/0019.
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
    case $v in
    apart) sed -i 's/const bool abreast = .*/const bool abreast = false;/' "$file.cu" ;;
    abreast) sed -i 's/const bool abreast = .*/const bool abreast = each > 0;/' "$file.cu" ;;
    esac
    echo "$stencil $dtype $size $schedule $v" >"$file.head"
  done
done <"$list"
echo "# bench/h200/variants.sh OLD NOW $(basename "$list"), $("$now" --version)"
race
