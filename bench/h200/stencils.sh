#!/usr/bin/env bash
# Every stencil of the catalogue, tuned cold at the sizes of the source documents: the
# Futhark thesis's small and large ones (its table 7), the stencil language's paper's
# (its table 1), and the catalogue's own. One line each, with the speed-up over the naive
# kernel of the same run, after the device, the driver and the commit.
#
#   bench/h200/stencils.sh path/to/tune SIZES [STENCILS] > bench/h200/stencils-SIZES.txt
#
# SIZES is thesis, paper or default, STENCILS a regular expression of whole names. A tune
# takes some ten seconds of search and a few more around it, say 15: "paper" and
# "default" are 25 tunes, 6 to 7 minutes each; "thesis" is 48, of which the stencils
# whose names match TWO (below) are one half. Where a call may take ten minutes:
#
#   TWO='.*2d.*|box.*|plate.*|srad2|pathfinder|jacobi1d'
#   bench/h200/stencils.sh tune thesis "$TWO"        # 15 stencils, 30 tunes, 8 minutes
#   bench/h200/stencils.sh tune thesis '.*3d.*'      # 10 stencils, 18 tunes, 5 minutes
#
# With the same STORE an interrupted run goes on where it stopped.
set -euo pipefail
tune=$1 sizes=$2 match=${3:-.*}
if [ -z "${STORE:-}" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  STORE=$work/store.db
fi
device=${DEVICE:-0} # host proves the script: DEVICE=host TUNE_FLAGS="--budget 2" ... 20x30,40
echo "# $("$tune" --version), $(date -u +%Y-%m-%d)"
"$tune" devices | sed -n "s/^${device}  */# /p"
"$tune" stencils --bench --device "$device" --sizes "$sizes" --match "$match" --store "$STORE" --quiet ${TUNE_FLAGS:-}
