# Light in a box of metal: Maxwell's equations in two dimensions, E along z. The walls hold E alone: its
# first cells are the wall (begin with 0 there), and beyond its last ones there is another.
# Source: Yee, "Numerical solution of initial boundary value problems involving Maxwell's equations", 1966.
NumDimensions 2
StencilSize (1, 1)
Fields (ez, hx, hy)
Boundary ez x (fixed, constant 0)
Boundary ez y (fixed, constant 0)
Stages (magnetic, electric)
CellValue magnetic (hx, hy) {
  float here = get(ez, 0, 0);
  return get(hx, 0, 0) - 0.5 * (get(ez, 0, 1) - here), get(hy, 0, 0) + 0.5 * (get(ez, 1, 0) - here);
}
CellValue electric (ez) {
  return get(ez, 0, 0) + 0.5 * (get(hy, 0, 0) - get(hy, -1, 0) - get(hx, 0, 0) + get(hx, 0, -1));
}
