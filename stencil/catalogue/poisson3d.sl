# Damped Jacobi iteration for Poisson's equation without sources, nineteen points.
# Source: the 19-point fourth-order Mehrstellen Laplacian (Collatz 1960): faces
# count 2, edges 1, the cell -24; damped by 3/4.
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
  return 0.25 * get(0, 0, 0) + 0.0625 * face + 0.03125 * edge;
}
