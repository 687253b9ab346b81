# Weak gravitational waves in empty space, as codes of numerical relativity evolve them: the lapse a (less 1), the conformal factor f, the trace k of the extrinsic
# curvature, the conformal metric g (less 1 on its diagonal), the rest q of the curvature and the connections c. Centred differences of second order, no shift.
# Source: Alcubierre, Allen, Bruegmann, Seidel and Suen, "Towards an understanding of the stability properties of the 3+1 evolution equations in general relativity"
# (2000), the conformal system of Baumgarte and Shapiro, "On the numerical integration of Einstein's field equations" (1999), linear, with harmonic slices; noise as
# in the robust stability test of Alcubierre and others, "Towards standard testbeds for numerical relativity" (2004).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (a, f, k, gxx, gyy, gzz, gxy, gxz, gyz, qxx, qyy, qzz, qxy, qxz, qyz, cx, cy, cz)
Boundary wrap
DefaultSize (320, 320, 300)
InputRange (-1e-10, 1e-10)
const double dt = 0.25;    # in units of the mesh
double slope(double l, double r) { return 0.5 * (r - l); }
double bend(double l, double m, double r) { return l - 2 * m + r; }
double twist(double ll, double rl, double lr, double rr) { return 0.25 * (ll - rl - lr + rr); }
double lap(double m, double w, double e, double s, double n, double d, double u) { return w + e + s + n + d + u - 6 * m; }
CellValue {
  double lapa = lap(get(a, 0, 0, 0), get(a, -1, 0, 0), get(a, 1, 0, 0), get(a, 0, -1, 0), get(a, 0, 1, 0), get(a, 0, 0, -1), get(a, 0, 0, 1));
  double lapf = lap(get(f, 0, 0, 0), get(f, -1, 0, 0), get(f, 1, 0, 0), get(f, 0, -1, 0), get(f, 0, 1, 0), get(f, 0, 0, -1), get(f, 0, 0, 1));
  double mxx = slope(get(cx, -1, 0, 0), get(cx, 1, 0, 0))
      - 0.5 * lap(get(gxx, 0, 0, 0), get(gxx, -1, 0, 0), get(gxx, 1, 0, 0), get(gxx, 0, -1, 0), get(gxx, 0, 1, 0), get(gxx, 0, 0, -1), get(gxx, 0, 0, 1))
      - bend(get(a, -1, 0, 0), get(a, 0, 0, 0), get(a, 1, 0, 0)) - 2 * bend(get(f, -1, 0, 0), get(f, 0, 0, 0), get(f, 1, 0, 0)) - 2 * lapf;
  double myy = slope(get(cy, 0, -1, 0), get(cy, 0, 1, 0))
      - 0.5 * lap(get(gyy, 0, 0, 0), get(gyy, -1, 0, 0), get(gyy, 1, 0, 0), get(gyy, 0, -1, 0), get(gyy, 0, 1, 0), get(gyy, 0, 0, -1), get(gyy, 0, 0, 1))
      - bend(get(a, 0, -1, 0), get(a, 0, 0, 0), get(a, 0, 1, 0)) - 2 * bend(get(f, 0, -1, 0), get(f, 0, 0, 0), get(f, 0, 1, 0)) - 2 * lapf;
  double mzz = slope(get(cz, 0, 0, -1), get(cz, 0, 0, 1))
      - 0.5 * lap(get(gzz, 0, 0, 0), get(gzz, -1, 0, 0), get(gzz, 1, 0, 0), get(gzz, 0, -1, 0), get(gzz, 0, 1, 0), get(gzz, 0, 0, -1), get(gzz, 0, 0, 1))
      - bend(get(a, 0, 0, -1), get(a, 0, 0, 0), get(a, 0, 0, 1)) - 2 * bend(get(f, 0, 0, -1), get(f, 0, 0, 0), get(f, 0, 0, 1)) - 2 * lapf;
  double mxy = 0.5 * (slope(get(cy, -1, 0, 0), get(cy, 1, 0, 0)) + slope(get(cx, 0, -1, 0), get(cx, 0, 1, 0)))
      - 0.5 * lap(get(gxy, 0, 0, 0), get(gxy, -1, 0, 0), get(gxy, 1, 0, 0), get(gxy, 0, -1, 0), get(gxy, 0, 1, 0), get(gxy, 0, 0, -1), get(gxy, 0, 0, 1))
      - twist(get(a, -1, -1, 0), get(a, 1, -1, 0), get(a, -1, 1, 0), get(a, 1, 1, 0))
      - 2 * twist(get(f, -1, -1, 0), get(f, 1, -1, 0), get(f, -1, 1, 0), get(f, 1, 1, 0));
  double mxz = 0.5 * (slope(get(cz, -1, 0, 0), get(cz, 1, 0, 0)) + slope(get(cx, 0, 0, -1), get(cx, 0, 0, 1)))
      - 0.5 * lap(get(gxz, 0, 0, 0), get(gxz, -1, 0, 0), get(gxz, 1, 0, 0), get(gxz, 0, -1, 0), get(gxz, 0, 1, 0), get(gxz, 0, 0, -1), get(gxz, 0, 0, 1))
      - twist(get(a, -1, 0, -1), get(a, 1, 0, -1), get(a, -1, 0, 1), get(a, 1, 0, 1))
      - 2 * twist(get(f, -1, 0, -1), get(f, 1, 0, -1), get(f, -1, 0, 1), get(f, 1, 0, 1));
  double myz = 0.5 * (slope(get(cz, 0, -1, 0), get(cz, 0, 1, 0)) + slope(get(cy, 0, 0, -1), get(cy, 0, 0, 1)))
      - 0.5 * lap(get(gyz, 0, 0, 0), get(gyz, -1, 0, 0), get(gyz, 1, 0, 0), get(gyz, 0, -1, 0), get(gyz, 0, 1, 0), get(gyz, 0, 0, -1), get(gyz, 0, 0, 1))
      - twist(get(a, 0, -1, -1), get(a, 0, 1, -1), get(a, 0, -1, 1), get(a, 0, 1, 1))
      - 2 * twist(get(f, 0, -1, -1), get(f, 0, 1, -1), get(f, 0, -1, 1), get(f, 0, 1, 1));
  double third = (mxx + myy + mzz) / 3;
  double nk = get(k, 0, 0, 0) - dt * lapa;
  double nxx = get(qxx, 0, 0, 0) + dt * (mxx - third);
  double nyy = get(qyy, 0, 0, 0) + dt * (myy - third);
  double nzz = get(qzz, 0, 0, 0) + dt * (mzz - third);
  double nxy = get(qxy, 0, 0, 0) + dt * mxy;
  double nxz = get(qxz, 0, 0, 0) + dt * mxz;
  double nyz = get(qyz, 0, 0, 0) + dt * myz;
  return get(a, 0, 0, 0) - dt * nk, get(f, 0, 0, 0) - dt / 6 * nk, nk,
         get(gxx, 0, 0, 0) - 2 * dt * nxx, get(gyy, 0, 0, 0) - 2 * dt * nyy, get(gzz, 0, 0, 0) - 2 * dt * nzz, get(gxy, 0, 0, 0) - 2 * dt * nxy,
         get(gxz, 0, 0, 0) - 2 * dt * nxz, get(gyz, 0, 0, 0) - 2 * dt * nyz,
         nxx, nyy, nzz, nxy, nxz, nyz,
         get(cx, 0, 0, 0) - 4.0 / 3 * dt * slope(get(k, -1, 0, 0), get(k, 1, 0, 0)), get(cy, 0, 0, 0) - 4.0 / 3 * dt * slope(get(k, 0, -1, 0), get(k, 0, 1, 0)),
         get(cz, 0, 0, 0) - 4.0 / 3 * dt * slope(get(k, 0, 0, -1), get(k, 0, 0, 1));
}
