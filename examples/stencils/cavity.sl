# Waves in a cavity with conducting walls, by Yee's scheme: ez at the points of the grid, hx and hy halfway between two of them.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (ez, hx, hy)
Short (hx y, hy x)
Boundary ez fixed
Stages (magnetic, electric)
CellValue magnetic (hx, hy) {
  return get(hx, 0, 0) - 0.5 * (get(ez, 0, 1) - get(ez, 0, 0)),
         get(hy, 0, 0) + 0.5 * (get(ez, 1, 0) - get(ez, 0, 0));
}
CellValue electric (ez) {
  return get(ez, 0, 0) + 0.5 * (get(hy, 0, 0) - get(hy, -1, 0) - get(hx, 0, 0) + get(hx, 0, -1));
}
