# A smoother of multigrid: one step of Chebyshev's iteration for the equation
# a u - div (b grad u) = f in a volume, with b a number; d is the reciprocal of the
# matrix's diagonal. c1 and c2 change with the step in a real run: here they stay.
# Source: benchmark cheby of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), from
# miniGMG: Williams et al., "Optimization of geometric multigrid for emerging multi-
# and manycore processors" (2012); Adams et al., "Parallel multigrid smoothing" (2003).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
ScalarVariables (double c1 = 0.3, double c2 = 0.6, double b = 0.1)
Fields (u, before)
ReadOnly (f, a, d)
Boundary constant 0
DefaultSize (512, 512, 512)
Steps 100
InputRange (0.2, 1)
CellValue {
  float c = get(u, 0, 0, 0);
  float au = get(a, 0, 0, 0) * c - b * (get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) +
                                        get(u, 0, 0, -1) + get(u, 0, 0, 1) - 6 * c);
  return c + c1 * (c - get(before, 0, 0, 0)) + c2 * get(d, 0, 0, 0) * (get(f, 0, 0, 0) - au), c;
}
