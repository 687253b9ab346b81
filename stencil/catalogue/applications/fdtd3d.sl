# Light in a volume: Maxwell's equations on Yee's grid. The electric field follows from
# the curl of the magnetic one, then the magnetic from the new electric one; 0.5 is
# the Courant number, and fields are scaled so that both curls weigh the same.
# Source: Yee, "Numerical solution of initial boundary value problems involving
# Maxwell's equations in isotropic media" (1966); Taflove and Hagness, "Computational
# Electrodynamics" (2005), chapter 3. Vacuum between perfect conductors.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (ex, ey, ez, hx, hy, hz)
Boundary constant 0
Stages (electric, magnetic)
DefaultSize (512, 512, 512)
Steps 1000
CellValue electric (ex, ey, ez) {
  float x0 = get(hx, 0, 0, 0), y0 = get(hy, 0, 0, 0), z0 = get(hz, 0, 0, 0);
  return get(ex, 0, 0, 0) + 0.5 * (z0 - get(hz, 0, -1, 0) - y0 + get(hy, 0, 0, -1)),
         get(ey, 0, 0, 0) + 0.5 * (x0 - get(hx, 0, 0, -1) - z0 + get(hz, -1, 0, 0)),
         get(ez, 0, 0, 0) + 0.5 * (y0 - get(hy, -1, 0, 0) - x0 + get(hx, 0, -1, 0));
}
CellValue magnetic (hx, hy, hz) {
  float x0 = get(ex, 0, 0, 0), y0 = get(ey, 0, 0, 0), z0 = get(ez, 0, 0, 0);
  return get(hx, 0, 0, 0) - 0.5 * (get(ez, 0, 1, 0) - z0 - get(ey, 0, 0, 1) + y0),
         get(hy, 0, 0, 0) - 0.5 * (get(ex, 0, 0, 1) - x0 - get(ez, 1, 0, 0) + z0),
         get(hz, 0, 0, 0) - 0.5 * (get(ey, 1, 0, 0) - y0 - get(ex, 0, 1, 0) + x0);
}
