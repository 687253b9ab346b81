# An explosion in air, in the plane: density, momentum and energy, with slopes that van Leer's limiter keeps and the flux of Harten, Lax, van Leer and Einfeldt.
# The walls mirror; momentum across them turns round.
# Source: Toro, "Riemann Solvers and Numerical Methods for Fluid Dynamics" (2009), sections 10.3, 10.5, 14.4 (half a step by Hancock left out) and 17.1; Einfeldt,
# "On Godunov-type methods for gas dynamics" (1988), for the speeds.
NumDimensions 2
StencilSize (2, 2)
DataType double
Fields (r, mx, my, e)
Boundary clamp
EdgeValue mx x { return -value; }
EdgeValue my y { return -value; }
DefaultSize (1800, 1500)
Steps 2000
InputRange r (0.5, 1.5)
InputRange mx (-0.2, 0.2)
InputRange my (-0.2, 0.2)
InputRange e (2, 3)
const double gamma = 1.4;
const double ratio = 0.05;      # of the time step to the cell
double slope(double a, double b) { return a * b > 0 ? 2 * a * b / (a + b) : 0; }
double flux(int k, double d, double m, double n, double en, double p) {
  if (k == 0) return m;
  if (k == 1) return m * m / d + p;
  if (k == 2) return m * n / d;
  return (en + p) * m / d;
}
# Of conserved part k through a face: what is left of it, what is right of it; m is the momentum across.
double face(int k, double lr, double lm, double ln, double le, double rr, double rm, double rn, double re, double lk, double rk) {
  double lp = (gamma - 1) * (le - 0.5 * (lm * lm + ln * ln) / lr), rp = (gamma - 1) * (re - 0.5 * (rm * rm + rn * rn) / rr);
  double lc = sqrt(gamma * fmax(lp, 0.01) / lr), rc = sqrt(gamma * fmax(rp, 0.01) / rr);
  double slow = fmin(fmin(lm / lr - lc, rm / rr - rc), 0), fast = fmax(fmax(lm / lr + lc, rm / rr + rc), 0);
  return (fast * flux(k, lr, lm, ln, le, lp) - slow * flux(k, rr, rm, rn, re, rp) + fast * slow * (rk - lk)) / (fast - slow);
}
double before(double a, double b, double c) { return b + 0.5 * slope(b - a, c - b); }
double after(double a, double b, double c) { return b - 0.5 * slope(b - a, c - b); }
double east(int k, int i) {
  double lr = before(get(r, i - 1, 0), get(r, i, 0), get(r, i + 1, 0)), rr = after(get(r, i, 0), get(r, i + 1, 0), get(r, i + 2, 0));
  double lm = before(get(mx, i - 1, 0), get(mx, i, 0), get(mx, i + 1, 0)), rm = after(get(mx, i, 0), get(mx, i + 1, 0), get(mx, i + 2, 0));
  double ln = before(get(my, i - 1, 0), get(my, i, 0), get(my, i + 1, 0)), rn = after(get(my, i, 0), get(my, i + 1, 0), get(my, i + 2, 0));
  double le = before(get(e, i - 1, 0), get(e, i, 0), get(e, i + 1, 0)), re = after(get(e, i, 0), get(e, i + 1, 0), get(e, i + 2, 0));
  if (k == 0) return face(0, lr, lm, ln, le, rr, rm, rn, re, lr, rr);
  if (k == 1) return face(1, lr, lm, ln, le, rr, rm, rn, re, lm, rm);
  if (k == 2) return face(2, lr, lm, ln, le, rr, rm, rn, re, ln, rn);
  return face(3, lr, lm, ln, le, rr, rm, rn, re, le, re);
}
double north(int k, int j) {
  double lr = before(get(r, 0, j - 1), get(r, 0, j), get(r, 0, j + 1)), rr = after(get(r, 0, j), get(r, 0, j + 1), get(r, 0, j + 2));
  double lm = before(get(my, 0, j - 1), get(my, 0, j), get(my, 0, j + 1)), rm = after(get(my, 0, j), get(my, 0, j + 1), get(my, 0, j + 2));
  double ln = before(get(mx, 0, j - 1), get(mx, 0, j), get(mx, 0, j + 1)), rn = after(get(mx, 0, j), get(mx, 0, j + 1), get(mx, 0, j + 2));
  double le = before(get(e, 0, j - 1), get(e, 0, j), get(e, 0, j + 1)), re = after(get(e, 0, j), get(e, 0, j + 1), get(e, 0, j + 2));
  if (k == 0) return face(0, lr, lm, ln, le, rr, rm, rn, re, lr, rr);
  if (k == 1) return face(1, lr, lm, ln, le, rr, rm, rn, re, lm, rm);
  if (k == 2) return face(2, lr, lm, ln, le, rr, rm, rn, re, ln, rn);
  return face(3, lr, lm, ln, le, rr, rm, rn, re, le, re);
}
CellValue {
  double r0 = get(r, 0, 0) - ratio * (east(0, 0) - east(0, -1) + north(0, 0) - north(0, -1));
  double mx0 = get(mx, 0, 0) - ratio * (east(1, 0) - east(1, -1) + north(2, 0) - north(2, -1));
  double my0 = get(my, 0, 0) - ratio * (east(2, 0) - east(2, -1) + north(1, 0) - north(1, -1));
  return r0, mx0, my0, get(e, 0, 0) - ratio * (east(3, 0) - east(3, -1) + north(3, 0) - north(3, -1));
}
