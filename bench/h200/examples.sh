#!/usr/bin/env bash
# Builds and runs the examples on a GPU, and compares the time of a step with what the
# config claims: within 3 % or it fails. Needs CUDA (nvcc, NVRTC), a C compiler, and no
# Go: the Go example is run if it was built before.
#
#   go build -o tune ./cmd/tune && go build -o gouser ./examples/go
#   bench/h200/examples.sh ./tune [./gouser] > bench/h200/examples.txt
set -uo pipefail
tune=$(realpath "$1") gouser=${2:+$(realpath "$2")}
here=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUNE_STORE=$work/store.db CUDA=${CUDA_HOME:-/usr/local/cuda}
export PATH=$(dirname "$tune"):$CUDA/bin:$PATH
cp -r "$here" "$here/../cmake" "$work"
cd "$work/examples"
failed=0
judge() { # name, output of a program
  printf '%s\n' "$2" | awk -v name="$1" '
    /^seconds_per_step/ {r = $2 / $4; printf "BenchmarkExample/%s 1 %.1f ns/op %.1f claimed-ns/op %.4f ratio\n", name, 1e9 * $2, 1e9 * $4, r; seen = 1; if (r > 1.03 || r < 0.97) bad = 1}
    /largest error/ {print "# " name ": " $0}
    END {if (!seen || bad) {print "# FAILED " name; exit 1}}' || failed=1
}
wrong() { echo "# FAILED $1: $2"; failed=1; }
"$tune" devices | sed 's/^/# /'

make -C make TUNE_HERE=1 TUNE="$tune" >"$work/make.log" 2>&1 || wrong make "$(tail -3 "$work/make.log")"
judge make "$(make/heat 1000)"
make/heat 7 67 45 29 >"$work/small" || wrong make-small "$(cat "$work/small")"
sed 's/^/# make, small grid: /' "$work/small"

# The same program where the schedule was not tuned for the grid: it must still be right.
make/heat 5 3 2 1 >"$work/small" || wrong make-tiny "$(cat "$work/small")"

if command -v cmake >/dev/null; then
  cmake -S cmake -B build -DTUNE="$tune" -DTUNE_HERE=ON -DCMAKE_BUILD_TYPE=Release >"$work/cmake.log" 2>&1 && cmake --build build >>"$work/cmake.log" 2>&1 || wrong cmake "$(tail -3 "$work/cmake.log")"
  judge cmake "$(build/heat 1000)"
else
  echo "# no cmake here"
fi

make -C driver TUNE_HERE=1 TUNE="$tune" CUDA="$CUDA" >"$work/driver.log" 2>&1 || wrong driver "$(tail -3 "$work/driver.log")"
judge driver "$(cd driver && ./heat 1000)"

# GPUs that share a grid, beside one of them; steps between copies.
if [ "$("$tune" devices | grep -c '^[0-9]')" -gt 1 ]; then
  make -C gpus CONFIG=../make/jacobi3d.json TUNE="$tune" >"$work/gpus.log" 2>&1 || wrong gpus "$(tail -3 "$work/gpus.log")"
  for exchange in 4 8 16; do
    gpus/heat 240 1024 1024 1024 $exchange >"$work/gpus" || wrong gpus "$(cat "$work/gpus")"
    sed "s/^/# gpus, 1024^3, $exchange steps: /" "$work/gpus"
  done
fi

# PTX is compiled by the driver; and nvcc must take the emitted source by itself.
"$tune" emit --config make/jacobi3d.json --format ptx -o x.ptx && grep -q '^.visible .entry' x.ptx || wrong ptx "no entry"
nvcc -std=c++17 -cubin -arch=sm_90 -o x.cubin make/jacobi3d.cu || wrong nvcc "the emitted source"
[ -z "$gouser" ] || judge go "$("$gouser" --device 0)"
exit $failed
