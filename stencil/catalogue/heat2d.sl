# The heat equation on a plane, explicit Euler with central differences: the
# factor 0.125 is the time step over the square of the mesh width.
# Source: the heat equation of Pluto's heat-2d (Bondhugula et al., "A practical
# automatic polyhedral parallelizer and locality optimizer", 2008, its examples).
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary clamp
DefaultSize (8192, 8192)
Steps 1000
CellValue {
  return 0.125 * (get(1, 0) - 2.0 * get(0, 0) + get(-1, 0)) +
         0.125 * (get(0, 1) - 2.0 * get(0, 0) + get(0, -1)) + get(0, 0);
}
