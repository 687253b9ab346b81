# Jacobi iteration on a plane: the mean of a cell and its four neighbours.
# Source: Jacobi iteration as in Virt and Wraa-Hansen, "Optimisation and GPU code
# generation of Stencils for Futhark" (2021), section 2; equal weights.
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary clamp
CellValue {
  return 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1));
}
