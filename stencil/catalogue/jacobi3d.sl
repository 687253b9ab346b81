# Jacobi iteration in a volume: the mean of a cell and its six neighbours.
# Source: Jacobi iteration as in Virt and Wraa-Hansen, "Optimisation and GPU code
# generation of Stencils for Futhark" (2021), section 2; equal weights.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Boundary clamp
CellValue {
  return 0.14285714285714285 *
         (get(0, 0, 0) + get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) +
          get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1));
}
