#!/usr/bin/env bash
# What copying planes ahead into shared memory gives (pm=1 of stream), and what waiting for
# neighbours alone (sy=1): around the winner of every row of families.txt, with one step
# more or less in flight and 4 or 6 rows a thread. Every schedule is checked, then timed.
#
#   bench/h200/ahead.sh path/to/tune > bench/h200/ahead.txt
set -euo pipefail
tune=$1
echo "# $(date -u +%F), GCells/s: bench/h200/ahead.sh, $("$tune" --version | head -1)"
sed -n 's|^BenchmarkTuned/\([^/]*\)/\([^/]*\)/\([^ ]*\) .*# \(stream/[^ ]*\).*|\1 \2 \3 \4|p' "$(dirname "$0")/families.txt" |
  while read -r stencil dtype size schedule; do
    ph=${schedule##*/ph=}
    ph=${ph%%/*}
    vary=(--vary pf=1,2,4 --vary pm=0,1 --vary "ph=$((ph > 1 ? ph - 1 : 1)),$ph,$((ph + 1))")
    [[ $size != *x*x* ]] || vary+=(--vary vy=4,6 --vary sy=0,1)
    echo
    echo "## $stencil $dtype $size, around $schedule"
    "$tune" sweep --stencil "$stencil" --dtype "$dtype" --size "$size" --device 0 --quiet --schedule "$schedule" "${vary[@]}" || echo "failed"
  done
