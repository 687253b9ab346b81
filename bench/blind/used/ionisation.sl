# Light of young galaxies that ionises the gas between them: photons n, their flux (fx, fy) over the speed of light, and the share xi of the hydrogen
# that is ionised, in cells of 50 pc and units of 1e-3 atoms a cm3; light at a hundredth of its speed. Gas is denser or thinner than that. Light enters at the left.
# Source: Rosdahl, Blaizot, Aubert, Stranex and Teyssier, "RAMSES-RT: radiation hydrodynamics in the cosmological context" (2013), one group of photons
# and the flux of Lax and Friedrichs; the closure of Levermore, "Relating Eddington factors to flux limiters" (1984); slopes limited by minmod after Gonzalez, Audit
# and Huynh, "HERACLES: a three-dimensional radiation hydrodynamics code" (2007).
NumDimensions 2
StencilSize (2, 2)
DataType double
Fields (n, fx, fy, xi)
ReadOnly (gas)
Boundary (clamp, wrap)
Boundary n x (constant 1, clamp)
Boundary fx x (constant 1, clamp)
Boundary fy x (constant 0, clamp)
DefaultSize (6001, 4000)
InputRange n (0.2, 1)
InputRange fx (-0.1, 0.2)
InputRange fy (-0.1, 0.1)
InputRange xi (0, 1)
InputRange gas (0.1, 10)
const double courant = 0.3;
const double absorb = 0.075;
const double recombine = 0.00004;
double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return fabs(a) < fabs(b) ? a : b;
}
double before(double l, double m, double r) { return m + 0.5 * minmod(m - l, r - m); }
double after(double l, double m, double r) { return m - 0.5 * minmod(m - l, r - m); }
# The pressure of e photons of flux (a, b) along a, and its part across.
double squared(double e, double a, double b) { return min((a * a + b * b) / max(e * e, 1e-20), 1); }
double eddington(double f2) { return (3 + 4 * f2) / (5 + 2 * sqrt(4 - 3 * f2)); }
double along(double e, double a, double b) {
  double chi = eddington(squared(e, a, b));
  return e * (0.5 * (1 - chi) + 0.5 * (3 * chi - 1) * a * a / max(a * a + b * b, 1e-20));
}
double across(double e, double a, double b) {
  double chi = eddington(squared(e, a, b));
  return e * 0.5 * (3 * chi - 1) * a * b / max(a * a + b * b, 1e-20);
}
# What stands on both sides of the face between i and i + 1 on each axis.
double nl(int i) { return before(get(n, i - 1, 0), get(n, i, 0), get(n, i + 1, 0)); }
double nr(int i) { return after(get(n, i, 0), get(n, i + 1, 0), get(n, i + 2, 0)); }
double al(int i) { return before(get(fx, i - 1, 0), get(fx, i, 0), get(fx, i + 1, 0)); }
double ar(int i) { return after(get(fx, i, 0), get(fx, i + 1, 0), get(fx, i + 2, 0)); }
double bl(int i) { return before(get(fy, i - 1, 0), get(fy, i, 0), get(fy, i + 1, 0)); }
double br(int i) { return after(get(fy, i, 0), get(fy, i + 1, 0), get(fy, i + 2, 0)); }
double nd(int j) { return before(get(n, 0, j - 1), get(n, 0, j), get(n, 0, j + 1)); }
double nu(int j) { return after(get(n, 0, j), get(n, 0, j + 1), get(n, 0, j + 2)); }
double ad(int j) { return before(get(fx, 0, j - 1), get(fx, 0, j), get(fx, 0, j + 1)); }
double au(int j) { return after(get(fx, 0, j), get(fx, 0, j + 1), get(fx, 0, j + 2)); }
double bd(int j) { return before(get(fy, 0, j - 1), get(fy, 0, j), get(fy, 0, j + 1)); }
double bu(int j) { return after(get(fy, 0, j), get(fy, 0, j + 1), get(fy, 0, j + 2)); }
double face(double fluxl, double fluxr, double l, double r) { return 0.5 * (fluxl + fluxr - r + l); }
double xn(int i) { return face(al(i), ar(i), nl(i), nr(i)); }
double xa(int i) { return face(along(nl(i), al(i), bl(i)), along(nr(i), ar(i), br(i)), al(i), ar(i)); }
double xb(int i) { return face(across(nl(i), al(i), bl(i)), across(nr(i), ar(i), br(i)), bl(i), br(i)); }
double yn(int j) { return face(bd(j), bu(j), nd(j), nu(j)); }
double ya(int j) { return face(across(nd(j), ad(j), bd(j)), across(nu(j), au(j), bu(j)), ad(j), au(j)); }
double yb(int j) { return face(along(nd(j), bd(j), ad(j)), along(nu(j), bu(j), au(j)), bd(j), bu(j)); }
CellValue {
  double photons = get(n, 0, 0) - courant * (xn(0) - xn(-1) + yn(0) - yn(-1));
  double a = get(fx, 0, 0) - courant * (xa(0) - xa(-1) + ya(0) - ya(-1));
  double b = get(fy, 0, 0) - courant * (xb(0) - xb(-1) + yb(0) - yb(-1));
  double neutral = 1 - get(xi, 0, 0);
  double left = 1 / (1 + absorb * get(gas, 0, 0) * neutral);
  photons = max(photons, 0) * left;
  double rate = absorb * photons;
  double loss = recombine * get(gas, 0, 0) * get(xi, 0, 0);
  return photons, left * a, left * b, (get(xi, 0, 0) + rate) / (1 + rate + loss);
}
