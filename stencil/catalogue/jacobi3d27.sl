# Twenty-seven points of a 3 x 3 x 3 box, a weight for each kind of neighbour.
# Source: the four-coefficient box of the NAS Parallel Benchmarks' MG smoother
# (psinv), with positive weights that add up to 1.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Boundary clamp
CellValue {
  float face = get(0, 0, -1) + get(0, -1, 0) + get(-1, 0, 0) + get(1, 0, 0) +
               get(0, 1, 0) + get(0, 0, 1);
  float edge = get(0, -1, -1) + get(-1, 0, -1) + get(1, 0, -1) +
               get(0, 1, -1) + get(-1, -1, 0) + get(1, -1, 0) +
               get(-1, 1, 0) + get(1, 1, 0) + get(0, -1, 1) + get(-1, 0, 1) +
               get(1, 0, 1) + get(0, 1, 1);
  float corner = get(-1, -1, -1) + get(1, -1, -1) + get(-1, 1, -1) +
                 get(1, 1, -1) + get(-1, -1, 1) + get(1, -1, 1) +
                 get(-1, 1, 1) + get(1, 1, 1);
  return 0.25 * get(0, 0, 0) + 0.0625 * face + 0.025 * edge + 0.009375 * corner;
}
