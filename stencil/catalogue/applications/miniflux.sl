# A step of a gas solver by finite volumes: density, velocity and energy (r, u, v, w, e)
# flow through the lower face of a cell on each axis, all interpolated to fourth order,
# and the new ones (nr, nu, nv, nw, ne) take what flows through both faces. The faces'
# areas are 0.1. An operator: one step is a run.
# Source: benchmark miniflux of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), after
# Olschanowsky et al., "A study on balancing parallelism, data locality, and
# recomputation in existing PDE solvers" (2014).
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Fields (nr, nu, nv, nw, ne, xr, xu, xv, xw, xe, yr, yu, yv, yw, ye, zr, zu, zv, zw, ze)
Temporary (xr, xu, xv, xw, xe, yr, yu, yv, yw, ye, zr, zu, zv, zw, ze)
ReadOnly (r, u, v, w, e)
Boundary clamp
Stages (fluxes, balance)
DefaultSize (512, 512, 512)
Steps 1
CellValue fluxes (xr, xu, xv, xw, xe, yr, yu, yv, yw, ye, zr, zu, zv, zw, ze) {
  float xrf = 7 * (get(r, -1, 0, 0) + get(r, 0, 0, 0)) - get(r, -2, 0, 0) - get(r, 1, 0, 0);
  float xuf = 7 * (get(u, -1, 0, 0) + get(u, 0, 0, 0)) - get(u, -2, 0, 0) - get(u, 1, 0, 0);
  float xvf = 7 * (get(v, -1, 0, 0) + get(v, 0, 0, 0)) - get(v, -2, 0, 0) - get(v, 1, 0, 0);
  float xwf = 7 * (get(w, -1, 0, 0) + get(w, 0, 0, 0)) - get(w, -2, 0, 0) - get(w, 1, 0, 0);
  float xef = 7 * (get(e, -1, 0, 0) + get(e, 0, 0, 0)) - get(e, -2, 0, 0) - get(e, 1, 0, 0);
  float xx0 = 0.00069444444444444444 * xuf;
  float yrf = 7 * (get(r, 0, -1, 0) + get(r, 0, 0, 0)) - get(r, 0, -2, 0) - get(r, 0, 1, 0);
  float yuf = 7 * (get(u, 0, -1, 0) + get(u, 0, 0, 0)) - get(u, 0, -2, 0) - get(u, 0, 1, 0);
  float yvf = 7 * (get(v, 0, -1, 0) + get(v, 0, 0, 0)) - get(v, 0, -2, 0) - get(v, 0, 1, 0);
  float ywf = 7 * (get(w, 0, -1, 0) + get(w, 0, 0, 0)) - get(w, 0, -2, 0) - get(w, 0, 1, 0);
  float yef = 7 * (get(e, 0, -1, 0) + get(e, 0, 0, 0)) - get(e, 0, -2, 0) - get(e, 0, 1, 0);
  float yy0 = 0.00069444444444444444 * yvf;
  float zrf = 7 * (get(r, 0, 0, -1) + get(r, 0, 0, 0)) - get(r, 0, 0, -2) - get(r, 0, 0, 1);
  float zuf = 7 * (get(u, 0, 0, -1) + get(u, 0, 0, 0)) - get(u, 0, 0, -2) - get(u, 0, 0, 1);
  float zvf = 7 * (get(v, 0, 0, -1) + get(v, 0, 0, 0)) - get(v, 0, 0, -2) - get(v, 0, 0, 1);
  float zwf = 7 * (get(w, 0, 0, -1) + get(w, 0, 0, 0)) - get(w, 0, 0, -2) - get(w, 0, 0, 1);
  float zef = 7 * (get(e, 0, 0, -1) + get(e, 0, 0, 0)) - get(e, 0, 0, -2) - get(e, 0, 0, 1);
  float zz0 = 0.00069444444444444444 * zwf;
  return xx0 * xrf, xx0 * xuf, xx0 * xvf, xx0 * xwf, xx0 * xef,
         yy0 * yrf, yy0 * yuf, yy0 * yvf, yy0 * ywf, yy0 * yef,
         zz0 * zrf, zz0 * zuf, zz0 * zvf, zz0 * zwf, zz0 * zef;
}
CellValue balance (nr, nu, nv, nw, ne) {
  return get(nr, 0, 0, 0) + get(xr, 0, 0, 0) - get(xr, 1, 0, 0) + get(yr, 0, 0, 0) - get(yr, 0, 1, 0) + get(zr, 0, 0, 0) - get(zr, 0, 0, 1),
         get(nu, 0, 0, 0) + get(xu, 0, 0, 0) - get(xu, 1, 0, 0) + get(yu, 0, 0, 0) - get(yu, 0, 1, 0) + get(zu, 0, 0, 0) - get(zu, 0, 0, 1),
         get(nv, 0, 0, 0) + get(xv, 0, 0, 0) - get(xv, 1, 0, 0) + get(yv, 0, 0, 0) - get(yv, 0, 1, 0) + get(zv, 0, 0, 0) - get(zv, 0, 0, 1),
         get(nw, 0, 0, 0) + get(xw, 0, 0, 0) - get(xw, 1, 0, 0) + get(yw, 0, 0, 0) - get(yw, 0, 1, 0) + get(zw, 0, 0, 0) - get(zw, 0, 0, 1),
         get(ne, 0, 0, 0) + get(xe, 0, 0, 0) - get(xe, 1, 0, 0) + get(ye, 0, 0, 0) - get(ye, 0, 1, 0) + get(ze, 0, 0, 0) - get(ze, 0, 0, 1);
}
