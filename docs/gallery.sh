#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md into docs/gallery; TUNE is the program (default: go run).
set -euo pipefail
cd "$(dirname "$0")/.."
plot() { ${TUNE:-go run ./cmd/tune} plot "$@" --stencil jacobi3d --dtype float32 --device replay:h200; }
plot progress --against seconds -o docs/gallery/progress.svg
plot roofline -o docs/gallery/roofline.svg
plot accuracy -o docs/gallery/accuracy.png
plot heatmap --param ph --param vy -o docs/gallery/heatmap.svg
plot importance -o docs/gallery/importance.svg
plot parallel -o docs/gallery/parallel.svg
plot finals -o docs/gallery/finals.svg
