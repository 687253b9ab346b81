# The Laplacian on a grid whose cells have other widths in each column and row; applied once.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (lap)
ReadOnly (u, dx[x], dy[y])
Steps 1
InputRange (0.5, 1.5)
CellValue {
  double c = get(u, 0, 0);
  double e = (get(u, 1, 0) - c) / (0.5 * (get(dx, 0) + get(dx, 1)));
  double w = (c - get(u, -1, 0)) / (0.5 * (get(dx, -1) + get(dx, 0)));
  double n = (get(u, 0, 1) - c) / (0.5 * (get(dy, 0) + get(dy, 1)));
  double s = (c - get(u, 0, -1)) / (0.5 * (get(dy, -1) + get(dy, 0)));
  return (e - w) / get(dx, 0) + (n - s) / get(dy, 0);
}
