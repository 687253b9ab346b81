# Waves in an elastic solid of one kind: three velocities from the slopes of six
# stresses, then the stresses from the velocities' slopes, on a staggered grid, second
# order in space and time; elastic3d4 has the fourth order. b is the reciprocal of the
# density, lambda and mu are Lame's parameters, each times the time step over the mesh
# width. No stress and no motion outside.
# Source: Virieux, "P-SV wave propagation in heterogeneous media: velocity-stress
# finite-difference method" (1986), in three dimensions as Graves, "Simulating seismic
# wave propagation in 3D elastic media using staggered-grid finite differences" (1996).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
ScalarVariables (float b = 0.25, float lambda = 0.25, float mu = 0.25)
Fields (vx, vy, vz, sxx, syy, szz, sxy, sxz, syz)
Boundary constant 0
Stages (velocity, stress)
DefaultSize (512, 512, 512)
Steps 1000
CellValue velocity (vx, vy, vz) {
  return get(vx, 0, 0, 0) + b * (get(sxx, 1, 0, 0) - get(sxx, 0, 0, 0) + get(sxy, 0, 0, 0) - get(sxy, 0, -1, 0) + get(sxz, 0, 0, 0) - get(sxz, 0, 0, -1)),
         get(vy, 0, 0, 0) + b * (get(sxy, 0, 0, 0) - get(sxy, -1, 0, 0) + get(syy, 0, 1, 0) - get(syy, 0, 0, 0) + get(syz, 0, 0, 0) - get(syz, 0, 0, -1)),
         get(vz, 0, 0, 0) + b * (get(sxz, 0, 0, 0) - get(sxz, -1, 0, 0) + get(syz, 0, 0, 0) - get(syz, 0, -1, 0) + get(szz, 0, 0, 1) - get(szz, 0, 0, 0));
}
CellValue stress (sxx, syy, szz, sxy, sxz, syz) {
  float xx = get(vx, 0, 0, 0) - get(vx, -1, 0, 0);
  float yy = get(vy, 0, 0, 0) - get(vy, 0, -1, 0);
  float zz = get(vz, 0, 0, 0) - get(vz, 0, 0, -1);
  float volume = lambda * (xx + yy + zz);
  return get(sxx, 0, 0, 0) + volume + 2 * mu * xx,
         get(syy, 0, 0, 0) + volume + 2 * mu * yy,
         get(szz, 0, 0, 0) + volume + 2 * mu * zz,
         get(sxy, 0, 0, 0) + mu * (get(vx, 0, 1, 0) - get(vx, 0, 0, 0) + get(vy, 1, 0, 0) - get(vy, 0, 0, 0)),
         get(sxz, 0, 0, 0) + mu * (get(vx, 0, 0, 1) - get(vx, 0, 0, 0) + get(vz, 1, 0, 0) - get(vz, 0, 0, 0)),
         get(syz, 0, 0, 0) + mu * (get(vy, 0, 0, 1) - get(vy, 0, 0, 0) + get(vz, 0, 1, 0) - get(vz, 0, 0, 0));
}
