#!/usr/bin/env bash
# The tables of Prasetya 2022, figures 5.1 and 5.2, on another device: milliseconds of
# a 9x9 box and of a matrix product for every column width and block size, one line of
# threads over the grid in column order. Width 0 is the naive order.
#
#   bench/h200/columns.sh path/to/study [DEVICE [FOLDER]]
#
# writes FOLDER/columns.txt and a heat map of each table beside it. To try the script:
#
#   BOX_SIZES=160x40 MATMUL_SIZES=70x70 WIDTHS=0,4,31,32 BLOCKS=32,64 bench/h200/columns.sh path/to/study host /tmp/columns
set -euo pipefail
study=$1 device=${2:-0} folder=${3:-bench/h200}
widths=${WIDTHS:-0,4,8,16,30,31,32,33,34,48,64,96,128,256,512,1024,2048}
blocks=${BLOCKS:-32,64,128,256,512,1024}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUNE_STORE=$work/store.db

# The widths that are narrower than the grid: wider ones are the naive order.
narrower() { tr ',' '\n' <<<"$widths" | awk -v n="${1%%x*}" '$1 < n' | paste -sd, -; }

table() { # stencil size
  "$study" sweep --stencil "$1" --dtype "${DTYPE:-float32}" --size "$2" --device "$device" --timing "${TIMING:-warm}" --quiet \
    --schedule global/gx=64/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1 \
    --vary cw="$(narrower "$2")" --vary gx="$blocks" --beyond --unit ms --heatmap "$folder/columns-$1-$2.svg"
  echo
}

{
  for n in ${BOX_SIZES:-4096x4096 4037x4037}; do table box9 "$n"; done
  for n in ${MATMUL_SIZES:-1024x1024}; do table matmul "$n"; done
} >"$work/columns.txt"
mv "$work/columns.txt" "$folder/columns.txt"
