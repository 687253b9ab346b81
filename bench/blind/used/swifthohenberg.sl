# Rolls of convection: a Laplacian of a Laplacian and a cubic term.
# Source: Swift and Hohenberg, "Hydrodynamic fluctuations at the convective instability" (1977).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (u, q)
Temporary (q)
Boundary wrap
Stages (inner, outer)
DefaultSize (7000, 6000)
InputRange (-0.5, 0.5)
CellValue inner (q) {
  return get(u, 0, 0) + 2 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * get(u, 0, 0));
}
CellValue outer (u) {
  float c = get(u, 0, 0);
  float l = get(q, 0, 0) + 2 * (get(q, -1, 0) + get(q, 1, 0) + get(q, 0, -1) + get(q, 0, 1) - 4 * get(q, 0, 0));
  return c + 0.005 * (0.3 * c - l - c * c * c);
}
