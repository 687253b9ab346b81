# A compressible gas or flame: what convection and pressure change of the density, the
# momentum and the energy, from these (mx, my, mz, e) and from velocity and pressure
# (u, v, w, p), with eighth-order first differences. An operator: one step is a run.
# Source: benchmark hypterm of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), from the
# mini-application ExpCNS; the equations are those of Euler in conserved form, the
# weights those of Fornberg (1988), table 1.
NumDimensions 3
StencilSize (4, 4, 4)
DataType double
Fields (fr, fx, fy, fz, fe)
ReadOnly (mx, my, mz, e, u, v, w, p)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1
CellValue {
  float r = 0, a = 0, b = 0, c = 0, d = 0;
  for (int k = 1; k <= 4; k++) {
    const float s = k == 1 ? 0.8 : k == 2 ? -0.2 : k == 3 ? 0.038095238095238095 : -0.0035714285714285714;
    float xu1 = get(u, k, 0, 0), xu0 = get(u, -k, 0, 0), px1 = get(p, k, 0, 0), px0 = get(p, -k, 0, 0);
    r += s * (get(mx, k, 0, 0) - get(mx, -k, 0, 0));
    a += s * (get(mx, k, 0, 0) * xu1 - get(mx, -k, 0, 0) * xu0 + px1 - px0);
    b += s * (get(my, k, 0, 0) * xu1 - get(my, -k, 0, 0) * xu0);
    c += s * (get(mz, k, 0, 0) * xu1 - get(mz, -k, 0, 0) * xu0);
    d += s * ((get(e, k, 0, 0) + px1) * xu1 - (get(e, -k, 0, 0) + px0) * xu0);
    float yv1 = get(v, 0, k, 0), yv0 = get(v, 0, -k, 0), py1 = get(p, 0, k, 0), py0 = get(p, 0, -k, 0);
    r += s * (get(my, 0, k, 0) - get(my, 0, -k, 0));
    a += s * (get(mx, 0, k, 0) * yv1 - get(mx, 0, -k, 0) * yv0);
    b += s * (get(my, 0, k, 0) * yv1 - get(my, 0, -k, 0) * yv0 + py1 - py0);
    c += s * (get(mz, 0, k, 0) * yv1 - get(mz, 0, -k, 0) * yv0);
    d += s * ((get(e, 0, k, 0) + py1) * yv1 - (get(e, 0, -k, 0) + py0) * yv0);
    float zw1 = get(w, 0, 0, k), zw0 = get(w, 0, 0, -k), pz1 = get(p, 0, 0, k), pz0 = get(p, 0, 0, -k);
    r += s * (get(mz, 0, 0, k) - get(mz, 0, 0, -k));
    a += s * (get(mx, 0, 0, k) * zw1 - get(mx, 0, 0, -k) * zw0);
    b += s * (get(my, 0, 0, k) * zw1 - get(my, 0, 0, -k) * zw0);
    c += s * (get(mz, 0, 0, k) * zw1 - get(mz, 0, 0, -k) * zw0 + pz1 - pz0);
    d += s * ((get(e, 0, 0, k) + pz1) * zw1 - (get(e, 0, 0, -k) + pz0) * zw0);
  }
  return -r, -a, -b, -c, -d;
}
