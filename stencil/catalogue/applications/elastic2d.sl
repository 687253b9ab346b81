# Waves in an elastic plate or section: velocities from the stresses' slopes, then the
# stresses from the velocities' slopes, on a staggered grid, second order in both. b is
# the reciprocal of the density, lambda and mu are Lame's parameters; 0.2 is the time
# step over the mesh width. No stress and no motion outside.
# Source: Virieux, "P-SV wave propagation in heterogeneous media: velocity-stress
# finite-difference method" (1986).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (vx, vz, sxx, szz, sxz)
ReadOnly (b, lambda, mu)
Boundary constant 0
Stages (velocity, stress)
DefaultSize (8192, 8192)
Steps 1000
InputRange (0.5, 1.5)
CellValue velocity (vx, vz) {
  float c = get(sxz, 0, 0), force = 0.2 * get(b, 0, 0);
  return get(vx, 0, 0) + force * (get(sxx, 1, 0) - get(sxx, 0, 0) + c - get(sxz, 0, -1)),
         get(vz, 0, 0) + force * (c - get(sxz, -1, 0) + get(szz, 0, 1) - get(szz, 0, 0));
}
CellValue stress (sxx, szz, sxz) {
  float l = get(lambda, 0, 0), m = get(mu, 0, 0);
  float xx = 0.2 * (get(vx, 0, 0) - get(vx, -1, 0)), zz = 0.2 * (get(vz, 0, 0) - get(vz, 0, -1));
  return get(sxx, 0, 0) + (l + 2 * m) * xx + l * zz,
         get(szz, 0, 0) + l * xx + (l + 2 * m) * zz,
         get(sxz, 0, 0) + 0.2 * m * (get(vx, 0, 1) - get(vx, 0, 0) + get(vz, 1, 0) - get(vz, 0, 0));
}
