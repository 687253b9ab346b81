# Waves in an elastic solid of one kind: three velocities from the slopes of six
# stresses, then the stresses from the velocities' slopes, on a staggered grid, fourth
# order in space and second in time. b is the reciprocal of the density, lambda and mu
# are Lame's parameters, each times the time step over the mesh width. No stress and
# no motion outside.
# Source: Virieux (1986) for the staggered grid; Levander, "Fourth-order
# finite-difference P-SV seismograms" (1988), for the differences; in three dimensions
# as Graves, "Simulating seismic wave propagation in 3D elastic media using
# staggered-grid finite differences" (1996).
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
ScalarVariables (float b = 0.25, float lambda = 0.25, float mu = 0.25)
Fields (vx, vy, vz, sxx, syy, szz, sxy, sxz, syz)
Boundary constant 0
Stages (velocity, stress)
DefaultSize (512, 512, 512)
Steps 1000
CellValue velocity (vx, vy, vz) {
  float xxx = 1.125 * (get(sxx, 1, 0, 0) - get(sxx, 0, 0, 0)) - 0.041666666666666667 * (get(sxx, 2, 0, 0) - get(sxx, -1, 0, 0));
  float xyy = 1.125 * (get(sxy, 0, 0, 0) - get(sxy, 0, -1, 0)) - 0.041666666666666667 * (get(sxy, 0, 1, 0) - get(sxy, 0, -2, 0));
  float xzz = 1.125 * (get(sxz, 0, 0, 0) - get(sxz, 0, 0, -1)) - 0.041666666666666667 * (get(sxz, 0, 0, 1) - get(sxz, 0, 0, -2));
  float xyx = 1.125 * (get(sxy, 0, 0, 0) - get(sxy, -1, 0, 0)) - 0.041666666666666667 * (get(sxy, 1, 0, 0) - get(sxy, -2, 0, 0));
  float yyy = 1.125 * (get(syy, 0, 1, 0) - get(syy, 0, 0, 0)) - 0.041666666666666667 * (get(syy, 0, 2, 0) - get(syy, 0, -1, 0));
  float yzz = 1.125 * (get(syz, 0, 0, 0) - get(syz, 0, 0, -1)) - 0.041666666666666667 * (get(syz, 0, 0, 1) - get(syz, 0, 0, -2));
  float xzx = 1.125 * (get(sxz, 0, 0, 0) - get(sxz, -1, 0, 0)) - 0.041666666666666667 * (get(sxz, 1, 0, 0) - get(sxz, -2, 0, 0));
  float yzy = 1.125 * (get(syz, 0, 0, 0) - get(syz, 0, -1, 0)) - 0.041666666666666667 * (get(syz, 0, 1, 0) - get(syz, 0, -2, 0));
  float zzz = 1.125 * (get(szz, 0, 0, 1) - get(szz, 0, 0, 0)) - 0.041666666666666667 * (get(szz, 0, 0, 2) - get(szz, 0, 0, -1));
  return get(vx, 0, 0, 0) + b * (xxx + xyy + xzz),
         get(vy, 0, 0, 0) + b * (xyx + yyy + yzz),
         get(vz, 0, 0, 0) + b * (xzx + yzy + zzz);
}
CellValue stress (sxx, syy, szz, sxy, sxz, syz) {
  float xx = 1.125 * (get(vx, 0, 0, 0) - get(vx, -1, 0, 0)) - 0.041666666666666667 * (get(vx, 1, 0, 0) - get(vx, -2, 0, 0));
  float yy = 1.125 * (get(vy, 0, 0, 0) - get(vy, 0, -1, 0)) - 0.041666666666666667 * (get(vy, 0, 1, 0) - get(vy, 0, -2, 0));
  float zz = 1.125 * (get(vz, 0, 0, 0) - get(vz, 0, 0, -1)) - 0.041666666666666667 * (get(vz, 0, 0, 1) - get(vz, 0, 0, -2));
  float xy = 1.125 * (get(vx, 0, 1, 0) - get(vx, 0, 0, 0)) - 0.041666666666666667 * (get(vx, 0, 2, 0) - get(vx, 0, -1, 0));
  float yx = 1.125 * (get(vy, 1, 0, 0) - get(vy, 0, 0, 0)) - 0.041666666666666667 * (get(vy, 2, 0, 0) - get(vy, -1, 0, 0));
  float xz = 1.125 * (get(vx, 0, 0, 1) - get(vx, 0, 0, 0)) - 0.041666666666666667 * (get(vx, 0, 0, 2) - get(vx, 0, 0, -1));
  float zx = 1.125 * (get(vz, 1, 0, 0) - get(vz, 0, 0, 0)) - 0.041666666666666667 * (get(vz, 2, 0, 0) - get(vz, -1, 0, 0));
  float yz = 1.125 * (get(vy, 0, 0, 1) - get(vy, 0, 0, 0)) - 0.041666666666666667 * (get(vy, 0, 0, 2) - get(vy, 0, 0, -1));
  float zy = 1.125 * (get(vz, 0, 1, 0) - get(vz, 0, 0, 0)) - 0.041666666666666667 * (get(vz, 0, 2, 0) - get(vz, 0, -1, 0));
  float volume = lambda * (xx + yy + zz);
  return get(sxx, 0, 0, 0) + volume + 2 * mu * xx,
         get(syy, 0, 0, 0) + volume + 2 * mu * yy,
         get(szz, 0, 0, 0) + volume + 2 * mu * zz,
         get(sxy, 0, 0, 0) + mu * (xy + yx),
         get(sxz, 0, 0, 0) + mu * (xz + zx),
         get(syz, 0, 0, 0) + mu * (yz + zy);
}
