# Nine points of a 3 x 3 box with unequal weights.
# Source: benchmark j2d9pt-gol of Matsumura et al., "AN5D: Automated Stencil
# Framework for High-Degree Temporal Blocking on GPUs" (CGO 2020), its weights.
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary clamp
CellValue {
  return (7 * get(-1, -1) + 5 * get(0, -1) + 9 * get(1, -1) +
          12 * get(-1, 0) + 15 * get(0, 0) + 12 * get(1, 0) +
          9 * get(-1, 1) + 5 * get(0, 1) + 7 * get(1, 1)) / 118;
}
