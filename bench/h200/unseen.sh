#!/usr/bin/env bash
# Records what is needed to judge answers for sizes that were never tuned: for each
# stencil 4 sizes that are stored, and 60 others that are answered from them. Each of
# the 60 is tuned with a store that holds the 4 only, beginning with the 48 schedules
# that tune best would choose from, so that its choice is among what was measured.
#
#   bench/h200/unseen.sh path/to/tune FOLDER [STENCIL ...]
#   go test ./tuned -run Unseen -v -unseen FOLDER
#
# With SIZES=40 it records 40 sizes of any extents instead, to fit the cost model to
# (bench/h200/sizes): the sizes that answers are judged by are left to judge.
#
# About 3 s a size with LIMIT=1500ms (as recorded), 3 to 4 minutes a stencil. DEVICE chooses the GPU; what is recorded already
# is left out, so that it can be stopped and begun again.
set -euo pipefail
tune=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- jacobi2d jacobi2d9s gaussian2d jacobi3d jacobi3d27
device=${DEVICE:-0} limit=${LIMIT:-3s}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 900^2 to 10000^2 cells, 110^3 to 560^3
volumes() { case $1 in *2d*) echo -v dims=2 -v low=810000 -v high=100000000 ;; *) echo -v dims=3 -v low=1331000 -v high=175616000 ;; esac; }
anchors() { case $1 in *2d*) echo 1024x1024 4096x4096 8192x2048 8192x8192 ;; *) echo 128x128x128 256x256x256 768x256x384 512x512x512 ;; esac; }
# 60 sizes: 12 volumes between those of the smallest and largest, or a little beyond, by
# 5 aspects; no multiples of anything in particular.
sizes() {
  awk $(volumes "$1") 'BEGIN {
    split(dims == 2 ? "1 1 2 1 1 2 5 1 1 5" : "1 1 1 2 1 1 1 1 2 3 2 1 1 3 2", r, " ")
    for (v = 0; v < 12; v++) for (a = 0; a < 5; a++) {
      cells = low * (high / low) ^ (v / 11); p = 1; text = ""
      for (d = 1; d <= dims; d++) p *= r[a * dims + d]
      for (d = 1; d <= dims; d++) text = text (d > 1 ? "x" : "") int((cells / p) ^ (1 / dims) * r[a * dims + d] + 0.5)
      print text
    } }'
}
# n other sizes: any volume from those of the smallest of them, any aspect up to 1:5 in 2D and 1:3 in 3D, the
# first extent a multiple of 1, 2, 4, 8 or 32. (Lehmer's generator: the same sizes whatever awk.)
others() {
  awk $(volumes "$1") -v n="$2" -v seed="$(cksum <<<"$1" | cut -d" " -f1)" 'function random() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
  BEGIN {
    most = dims == 2 ? 5 : 3
    split("1 2 4 8 32", whole, " "); seed = seed % 2147483647; random()
    for (k = 0; k < n; k++) {
      cells = low * (high / low) ^ random(); p = 1; text = ""
      for (d = 1; d <= dims; d++) p *= r[d] = most ^ random()
      for (d = 1; d <= dims; d++) {
        of = d == 1 ? whole[k % 5 + 1] : 1
        text = text (d > 1 ? "x" : "") of * int((cells / p) ^ (1 / dims) * r[d] / of + 0.5)
      }
      print text
    } }'
}
record() { # stencil size store
  local file=$out/$1_$2.jsonl.gz
  [ -s "$file" ] && return
  "$tune" --quiet --stencil "$1" --size "$2" --device "$device" --store "$3" --time-limit "$limit" --seeds 48 --record "$work/new.jsonl.gz" >/dev/null
  mv "$work/new.jsonl.gz" "$file"
}
for s in "$@"; do
  for n in $(anchors "$s"); do
    # Stored and recorded: the record comes from the journal of the first run.
    "$tune" --quiet --stencil "$s" --size "$n" --device "$device" --store "$work/$s.db" --seeds 0 >/dev/null
    [ -n "${SIZES:-}" ] || record "$s" "$n" "$work/$s.db"
  done
  for n in $([ -n "${SIZES:-}" ] && others "$s" "$SIZES" || sizes "$s"); do
    cp "$work/$s.db" "$work/one.db"
    record "$s" "$n" "$work/one.db"
  done
  echo "$s: $(ls "$out/$s"_*.jsonl.gz | wc -l) sizes" >&2
done
