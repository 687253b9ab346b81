# A compressible gas or flame: what viscosity and heat conduction change of momentum and
# energy: the slopes of the velocity (u, v, w) along itself, then the momentum, then the
# energy with the temperature t, all with eighth-order differences. 0.7 is the viscosity,
# 0.3 the conductivity. An operator: one step is a run.
# Source: benchmark diffterm of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), from the
# mini-application ExpCNS; the viscous terms of Navier and Stokes with constant
# coefficients, weights of Fornberg (1988), table 1. The suite stores the other six
# slopes too; here the energy computes them, for no neighbour needs them.
NumDimensions 3
StencilSize (4, 4, 4)
DataType double
Fields (fx, fy, fz, fe, ux, vy, wz)
Temporary (ux, vy, wz)
ReadOnly (u, v, w, t)
Boundary clamp
Stages (slopes, momentum, energy)
DefaultSize (512, 512, 512)
Steps 1
CellValue slopes (ux, vy, wz) {
  float a = 0, b = 0, c = 0;
  for (int k = 1; k <= 4; k++) {
    const float s = k == 1 ? 0.8 : k == 2 ? -0.2 : k == 3 ? 0.038095238095238095 : -0.0035714285714285714;
    a += s * (get(u, k, 0, 0) - get(u, -k, 0, 0));
    b += s * (get(v, 0, k, 0) - get(v, 0, -k, 0));
    c += s * (get(w, 0, 0, k) - get(w, 0, 0, -k));
  }
  return a, b, c;
}
CellValue momentum (fx, fy, fz) {
  float u0 = get(u, 0, 0, 0), v0 = get(v, 0, 0, 0), w0 = get(w, 0, 0, 0);
  float uxx = -2.8472222222222223 * u0, uyy = -2.8472222222222223 * u0, uzz = -2.8472222222222223 * u0;
  float vxx = -2.8472222222222223 * v0, vyy = -2.8472222222222223 * v0, vzz = -2.8472222222222223 * v0;
  float wxx = -2.8472222222222223 * w0, wyy = -2.8472222222222223 * w0, wzz = -2.8472222222222223 * w0;
  float a = 0, b = 0, c = 0;
  for (int k = 1; k <= 4; k++) {
    const float s = k == 1 ? 0.8 : k == 2 ? -0.2 : k == 3 ? 0.038095238095238095 : -0.0035714285714285714;
    const float q = k == 1 ? 1.6 : k == 2 ? -0.2 : k == 3 ? 0.025396825396825397 : -0.0017857142857142857;
    uxx += q * (get(u, k, 0, 0) + get(u, -k, 0, 0));
    uyy += q * (get(u, 0, k, 0) + get(u, 0, -k, 0));
    uzz += q * (get(u, 0, 0, k) + get(u, 0, 0, -k));
    vxx += q * (get(v, k, 0, 0) + get(v, -k, 0, 0));
    vyy += q * (get(v, 0, k, 0) + get(v, 0, -k, 0));
    vzz += q * (get(v, 0, 0, k) + get(v, 0, 0, -k));
    wxx += q * (get(w, k, 0, 0) + get(w, -k, 0, 0));
    wyy += q * (get(w, 0, k, 0) + get(w, 0, -k, 0));
    wzz += q * (get(w, 0, 0, k) + get(w, 0, 0, -k));
    a += s * (get(vy, k, 0, 0) - get(vy, -k, 0, 0) + get(wz, k, 0, 0) - get(wz, -k, 0, 0));
    b += s * (get(ux, 0, k, 0) - get(ux, 0, -k, 0) + get(wz, 0, k, 0) - get(wz, 0, -k, 0));
    c += s * (get(ux, 0, 0, k) - get(ux, 0, 0, -k) + get(vy, 0, 0, k) - get(vy, 0, 0, -k));
  }
  return 0.7 * (1.3333333333333333 * uxx + uyy + uzz + 0.33333333333333333 * a),
         0.7 * (vxx + 1.3333333333333333 * vyy + vzz + 0.33333333333333333 * b),
         0.7 * (wxx + wyy + 1.3333333333333333 * wzz + 0.33333333333333333 * c);
}
CellValue energy (fe) {
  float laplace = -8.5416666666666667 * get(t, 0, 0, 0);
  float xy = 0, xz = 0, yz = 0;
  for (int k = 1; k <= 4; k++) {
    const float s = k == 1 ? 0.8 : k == 2 ? -0.2 : k == 3 ? 0.038095238095238095 : -0.0035714285714285714;
    const float q = k == 1 ? 1.6 : k == 2 ? -0.2 : k == 3 ? 0.025396825396825397 : -0.0017857142857142857;
    laplace += q * (get(t, k, 0, 0) + get(t, -k, 0, 0) + get(t, 0, k, 0) + get(t, 0, -k, 0) + get(t, 0, 0, k) + get(t, 0, 0, -k));
    xy += s * (get(u, 0, k, 0) - get(u, 0, -k, 0) + get(v, k, 0, 0) - get(v, -k, 0, 0));
    xz += s * (get(u, 0, 0, k) - get(u, 0, 0, -k) + get(w, k, 0, 0) - get(w, -k, 0, 0));
    yz += s * (get(v, 0, 0, k) - get(v, 0, 0, -k) + get(w, 0, k, 0) - get(w, 0, -k, 0));
  }
  float xx = get(ux, 0, 0, 0), yy = get(vy, 0, 0, 0), zz = get(wz, 0, 0, 0);
  float third = 0.66666666666666667 * (xx + yy + zz);
  float heat = (2 * xx - third) * xx + (2 * yy - third) * yy + (2 * zz - third) * zz + xy * xy + xz * xz + yz * yz;
  return 0.3 * laplace + 0.7 * heat + get(fx, 0, 0, 0) * get(u, 0, 0, 0) + get(fy, 0, 0, 0) * get(v, 0, 0, 0) + get(fz, 0, 0, 0) * get(w, 0, 0, 0);
}
