# Jacobi iteration on a line: the mean of a cell and its two neighbours.
# Source: Jacobi iteration as in Virt and Wraa-Hansen, "Optimisation and GPU code
# generation of Stencils for Futhark" (2021), section 2, in one dimension.
NumDimensions 1
StencilSize (1)
DataType float
Boundary clamp
DefaultSize (67108864)
Steps 1000
CellValue {
  return 0.3333333333333333 * (get(-1) + get(0) + get(1));
}
