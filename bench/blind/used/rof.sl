# A picture without its noise, of least total variation: a step of the dual, then of its divergence.
# Source: Chambolle, "An algorithm for total variation minimization and applications" (2004), equation 9.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (p, q, d)
ReadOnly (g)
Temporary (d)
Boundary constant 0
Stages (divergence, dual)
DefaultSize (4032, 3024)
InputRange g (0, 1)
CellValue divergence (d) { return get(p, 0, 0) - get(p, -1, 0) + get(q, 0, 0) - get(q, 0, -1) - 8 * get(g, 0, 0); }
CellValue dual (p, q) {
  float dx = get(d, 1, 0) - get(d, 0, 0), dy = get(d, 0, 1) - get(d, 0, 0);
  float n = 1 + 0.25 * sqrt(dx * dx + dy * dy);
  return (get(p, 0, 0) + 0.25 * dx) / n, (get(q, 0, 0) + 0.25 * dy) / n;
}
