# Earthquakes' waves in rock that absorbs all frequencies alike: velocities, stresses, and for each stress what it remembers, of one relaxation time in each cell; the eight times
# of a spectrum alternate between the eight cells of a cube. Staggered, fourth order; densities are means of two cells, shear moduli harmonic ones of four (im is 1 / modulus).
# Outside is vacuum, and sponges (gx, gy, gz) damp what nears the sides.
# Source: Day and Bradley, "Memory-efficient simulation of anelastic wave propagation" (2001); Day, "Efficient simulation of constant Q using coarse-grained memory variables" (1998);
# Graves, "Simulating seismic wave propagation in 3D elastic media using staggered-grid finite differences" (1996), the means; Cerjan and others (1985), the sponge.
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Fields (vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, rxx, ryy, rzz, rxy, rxz, ryz)
ReadOnly (rho, lam, im, qp, qs, gx[x], gy[y], gz[z])
Boundary constant 0
Stages (motion, stress)
DefaultSize (301, 277, 259)
Steps 4000
InputRange (-1, 1)
InputRange vx (-0.1, 0.1)
InputRange vy (-0.1, 0.1)
InputRange vz (-0.1, 0.1)
InputRange rxx (-0.0001, 0.0001)
InputRange ryy (-0.0001, 0.0001)
InputRange rzz (-0.0001, 0.0001)
InputRange rxy (-0.0001, 0.0001)
InputRange rxz (-0.0001, 0.0001)
InputRange ryz (-0.0001, 0.0001)
InputRange rho (2, 2.8)
InputRange lam (20, 40)
InputRange im (0.025, 0.05)
InputRange qp (0.009, 0.06)    # 2 / pi * log(1000) / Q
InputRange qs (0.009, 0.09)
InputRange gx (0.999, 1)
InputRange gy (0.999, 1)
InputRange gz (0.999, 1)
const double l = 0.05;         # time step over mesh width: km/s
const double tau = 15.39926526059492;      # the shortest relaxation time, in time steps
double d(double a, double b, double c, double e) { return 1.125 * (c - b) - (e - a) / 24; }
double sponge() { return get(gx, 0) * get(gy, 0) * get(gz, 0); }
CellValue motion (vx, vy, vz) {
  double g = sponge(), own = get(rho, 0, 0, 0);
  double fx = d(get(sxx, -1, 0, 0), get(sxx, 0, 0, 0), get(sxx, 1, 0, 0), get(sxx, 2, 0, 0)) + d(get(sxy, 0, -2, 0), get(sxy, 0, -1, 0), get(sxy, 0, 0, 0), get(sxy, 0, 1, 0))
      + d(get(sxz, 0, 0, -2), get(sxz, 0, 0, -1), get(sxz, 0, 0, 0), get(sxz, 0, 0, 1));
  double fy = d(get(sxy, -2, 0, 0), get(sxy, -1, 0, 0), get(sxy, 0, 0, 0), get(sxy, 1, 0, 0)) + d(get(syy, 0, -1, 0), get(syy, 0, 0, 0), get(syy, 0, 1, 0), get(syy, 0, 2, 0))
      + d(get(syz, 0, 0, -2), get(syz, 0, 0, -1), get(syz, 0, 0, 0), get(syz, 0, 0, 1));
  double fz = d(get(sxz, -2, 0, 0), get(sxz, -1, 0, 0), get(sxz, 0, 0, 0), get(sxz, 1, 0, 0)) + d(get(syz, 0, -2, 0), get(syz, 0, -1, 0), get(syz, 0, 0, 0), get(syz, 0, 1, 0))
      + d(get(szz, 0, 0, -1), get(szz, 0, 0, 0), get(szz, 0, 0, 1), get(szz, 0, 0, 2));
  return g * (get(vx, 0, 0, 0) + 2 * l / (own + get(rho, 1, 0, 0)) * fx), g * (get(vy, 0, 0, 0) + 2 * l / (own + get(rho, 0, 1, 0)) * fy),
         g * (get(vz, 0, 0, 0) + 2 * l / (own + get(rho, 0, 0, 1)) * fz);
}
CellValue stress (sxx, syy, szz, sxy, sxz, syz, rxx, ryy, rzz, rxy, rxz, ryz) {
  double g = sponge();
  double t = tau * (x % 2 == 0 ? 1 : 2.371373705661655) * (y % 2 == 0 ? 1 : 5.623413251903491) * (z % 2 == 0 ? 1 : 31.622776601683793);
  double takes = 2 / (2 * t + 1), keeps = 1 - takes;
  double xx = l * d(get(vx, -2, 0, 0), get(vx, -1, 0, 0), get(vx, 0, 0, 0), get(vx, 1, 0, 0));
  double yy = l * d(get(vy, 0, -2, 0), get(vy, 0, -1, 0), get(vy, 0, 0, 0), get(vy, 0, 1, 0));
  double zz = l * d(get(vz, 0, 0, -2), get(vz, 0, 0, -1), get(vz, 0, 0, 0), get(vz, 0, 0, 1));
  double xy = l * (d(get(vx, 0, -1, 0), get(vx, 0, 0, 0), get(vx, 0, 1, 0), get(vx, 0, 2, 0)) + d(get(vy, -1, 0, 0), get(vy, 0, 0, 0), get(vy, 1, 0, 0), get(vy, 2, 0, 0)));
  double xz = l * (d(get(vx, 0, 0, -1), get(vx, 0, 0, 0), get(vx, 0, 0, 1), get(vx, 0, 0, 2)) + d(get(vz, -1, 0, 0), get(vz, 0, 0, 0), get(vz, 1, 0, 0), get(vz, 2, 0, 0)));
  double yz = l * (d(get(vy, 0, 0, -1), get(vy, 0, 0, 0), get(vy, 0, 0, 1), get(vy, 0, 0, 2)) + d(get(vz, 0, -1, 0), get(vz, 0, 0, 0), get(vz, 0, 1, 0), get(vz, 0, 2, 0)));
  double mu2 = 2 / get(im, 0, 0, 0), all = (get(lam, 0, 0, 0) + mu2) * (xx + yy + zz), p = get(qp, 0, 0, 0), q = get(qs, 0, 0, 0);
  double mxy = 4 / (get(im, 0, 0, 0) + get(im, 1, 0, 0) + get(im, 0, 1, 0) + get(im, 1, 1, 0)) * xy;
  double mxz = 4 / (get(im, 0, 0, 0) + get(im, 1, 0, 0) + get(im, 0, 0, 1) + get(im, 1, 0, 1)) * xz;
  double myz = 4 / (get(im, 0, 0, 0) + get(im, 0, 1, 0) + get(im, 0, 0, 1) + get(im, 0, 1, 1)) * yz;
  double nxx = keeps * get(rxx, 0, 0, 0) + takes * (p * all - q * mu2 * (yy + zz));
  double nyy = keeps * get(ryy, 0, 0, 0) + takes * (p * all - q * mu2 * (xx + zz));
  double nzz = keeps * get(rzz, 0, 0, 0) + takes * (p * all - q * mu2 * (xx + yy));
  double nxy = keeps * get(rxy, 0, 0, 0) + takes * q * mxy, nxz = keeps * get(rxz, 0, 0, 0) + takes * q * mxz, nyz = keeps * get(ryz, 0, 0, 0) + takes * q * myz;
  return g * (get(sxx, 0, 0, 0) + all - mu2 * (yy + zz) - 0.5 * (get(rxx, 0, 0, 0) + nxx)), g * (get(syy, 0, 0, 0) + all - mu2 * (xx + zz) - 0.5 * (get(ryy, 0, 0, 0) + nyy)),
         g * (get(szz, 0, 0, 0) + all - mu2 * (xx + yy) - 0.5 * (get(rzz, 0, 0, 0) + nzz)), g * (get(sxy, 0, 0, 0) + mxy - 0.5 * (get(rxy, 0, 0, 0) + nxy)),
         g * (get(sxz, 0, 0, 0) + mxz - 0.5 * (get(rxz, 0, 0, 0) + nxz)), g * (get(syz, 0, 0, 0) + myz - 0.5 * (get(ryz, 0, 0, 0) + nyz)), nxx, nyy, nzz, nxy, nxz, nyz;
}
