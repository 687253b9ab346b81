# Earthquakes: waves are damped near the ends of the grid, by fourth differences of how
# the displacement (u, v, w) changed since (um, vm, wm). The new displacement (up, vp, wp)
# takes them times 0.01; rho is the density. An operator: one step is a run. One array d
# has the damping for all axes and the stretching of the mesh is 1: the language has no
# arrays of one axis beside others.
# Source: benchmark addsgd4 of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), from SW4;
# the scheme is of Petersson and Sjogreen, "Super-grid modeling of the elastic wave
# equation in semi-bounded domains" (2014).
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Fields (up, vp, wp)
ReadOnly (u, v, w, um, vm, wm, rho, d)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1
InputRange (0.5, 1.5)
CellValue {
  float m = get(rho, 0, 0, 0) * get(d, 0, 0, 0);
  float xl = get(rho, -1, 0, 0) * get(d, -1, 0, 0), xr = get(rho, 1, 0, 0) * get(d, 1, 0, 0);
  float yl = get(rho, 0, -1, 0) * get(d, 0, -1, 0), yr = get(rho, 0, 1, 0) * get(d, 0, 1, 0);
  float zl = get(rho, 0, 0, -1) * get(d, 0, 0, -1), zr = get(rho, 0, 0, 1) * get(d, 0, 0, 1);
  float u0 = get(u, 0, 0, 0) - get(um, 0, 0, 0);
  float ux1 = get(u, -2, 0, 0) - get(um, -2, 0, 0), ux2 = get(u, -1, 0, 0) - get(um, -1, 0, 0);
  float ux3 = get(u, 1, 0, 0) - get(um, 1, 0, 0), ux4 = get(u, 2, 0, 0) - get(um, 2, 0, 0);
  float uy1 = get(u, 0, -2, 0) - get(um, 0, -2, 0), uy2 = get(u, 0, -1, 0) - get(um, 0, -1, 0);
  float uy3 = get(u, 0, 1, 0) - get(um, 0, 1, 0), uy4 = get(u, 0, 2, 0) - get(um, 0, 2, 0);
  float uz1 = get(u, 0, 0, -2) - get(um, 0, 0, -2), uz2 = get(u, 0, 0, -1) - get(um, 0, 0, -1);
  float uz3 = get(u, 0, 0, 1) - get(um, 0, 0, 1), uz4 = get(u, 0, 0, 2) - get(um, 0, 0, 2);
  float v0 = get(v, 0, 0, 0) - get(vm, 0, 0, 0);
  float vx1 = get(v, -2, 0, 0) - get(vm, -2, 0, 0), vx2 = get(v, -1, 0, 0) - get(vm, -1, 0, 0);
  float vx3 = get(v, 1, 0, 0) - get(vm, 1, 0, 0), vx4 = get(v, 2, 0, 0) - get(vm, 2, 0, 0);
  float vy1 = get(v, 0, -2, 0) - get(vm, 0, -2, 0), vy2 = get(v, 0, -1, 0) - get(vm, 0, -1, 0);
  float vy3 = get(v, 0, 1, 0) - get(vm, 0, 1, 0), vy4 = get(v, 0, 2, 0) - get(vm, 0, 2, 0);
  float vz1 = get(v, 0, 0, -2) - get(vm, 0, 0, -2), vz2 = get(v, 0, 0, -1) - get(vm, 0, 0, -1);
  float vz3 = get(v, 0, 0, 1) - get(vm, 0, 0, 1), vz4 = get(v, 0, 0, 2) - get(vm, 0, 0, 2);
  float w0 = get(w, 0, 0, 0) - get(wm, 0, 0, 0);
  float wx1 = get(w, -2, 0, 0) - get(wm, -2, 0, 0), wx2 = get(w, -1, 0, 0) - get(wm, -1, 0, 0);
  float wx3 = get(w, 1, 0, 0) - get(wm, 1, 0, 0), wx4 = get(w, 2, 0, 0) - get(wm, 2, 0, 0);
  float wy1 = get(w, 0, -2, 0) - get(wm, 0, -2, 0), wy2 = get(w, 0, -1, 0) - get(wm, 0, -1, 0);
  float wy3 = get(w, 0, 1, 0) - get(wm, 0, 1, 0), wy4 = get(w, 0, 2, 0) - get(wm, 0, 2, 0);
  float wz1 = get(w, 0, 0, -2) - get(wm, 0, 0, -2), wz2 = get(w, 0, 0, -1) - get(wm, 0, 0, -1);
  float wz3 = get(w, 0, 0, 1) - get(wm, 0, 0, 1), wz4 = get(w, 0, 0, 2) - get(wm, 0, 0, 2);
  float du = xr * (ux4 - 2 * ux3 + u0) - 2 * m * (ux3 - 2 * u0 + ux2) + xl * (u0 - 2 * ux2 + ux1) +
             yr * (uy4 - 2 * uy3 + u0) - 2 * m * (uy3 - 2 * u0 + uy2) + yl * (u0 - 2 * uy2 + uy1) +
             zr * (uz4 - 2 * uz3 + u0) - 2 * m * (uz3 - 2 * u0 + uz2) + zl * (u0 - 2 * uz2 + uz1);
  float dv = xr * (vx4 - 2 * vx3 + v0) - 2 * m * (vx3 - 2 * v0 + vx2) + xl * (v0 - 2 * vx2 + vx1) +
             yr * (vy4 - 2 * vy3 + v0) - 2 * m * (vy3 - 2 * v0 + vy2) + yl * (v0 - 2 * vy2 + vy1) +
             zr * (vz4 - 2 * vz3 + v0) - 2 * m * (vz3 - 2 * v0 + vz2) + zl * (v0 - 2 * vz2 + vz1);
  float dw = xr * (wx4 - 2 * wx3 + w0) - 2 * m * (wx3 - 2 * w0 + wx2) + xl * (w0 - 2 * wx2 + wx1) +
             yr * (wy4 - 2 * wy3 + w0) - 2 * m * (wy3 - 2 * w0 + wy2) + yl * (w0 - 2 * wy2 + wy1) +
             zr * (wz4 - 2 * wz3 + w0) - 2 * m * (wz3 - 2 * w0 + wz2) + zl * (w0 - 2 * wz2 + wz1);
  float share = 0.01 / get(rho, 0, 0, 0);
  return get(up, 0, 0, 0) - share * du, get(vp, 0, 0, 0) - share * dv, get(wp, 0, 0, 0) - share * dw;
}
