# Gauss-Seidel relaxation of Poisson's equation in a volume, in red-black order:
# the red cells from their black neighbours, then the black from the new red ones.
# f is the right-hand side times the square of the mesh width.
# Source: Young, "Iterative methods for solving partial difference equations of
# elliptic type" (1954); Briggs, Henson and McCormick, "A Multigrid Tutorial" (2000),
# chapter 2. The value is 0 around the grid.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u)
ReadOnly (f)
Boundary constant 0
Stages (red, black)
DefaultSize (512, 512, 512)
Steps 1000
CellValue red {
  if ((x + y + z) % 2 != 0)
    return get(u, 0, 0, 0);
  return 0.16666666666666667 * (get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) +
                                get(u, 0, 0, -1) + get(u, 0, 0, 1) - get(f, 0, 0, 0));
}
CellValue black {
  if ((x + y + z) % 2 == 0)
    return get(u, 0, 0, 0);
  return 0.16666666666666667 * (get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) +
                                get(u, 0, 0, -1) + get(u, 0, 0, 1) - get(f, 0, 0, 0));
}
