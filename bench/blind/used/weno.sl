# A wave that steepens and breaks on a ring: Burgers' equation, weighted essentially non-oscillatory differences of fifth order of split fluxes, three stages.
# Source: Jiang and Shu, "Efficient implementation of weighted ENO schemes" (1996), section 2; Shu and Osher (1988) for Runge and Kutta's third order.
NumDimensions 1
StencilSize (3)
DataType double
Fields (u, old)
Stages (first, second, third)
Boundary wrap
DefaultSize (6000000)
Steps 2000
InputRange (-1, 1)
const double ratio = 0.3;       # of the time step to the cell
const double alpha = 1.2;       # no wave is faster
double plus(int i) { return 0.5 * (0.5 * get(u, i) * get(u, i) + alpha * get(u, i)); }
double minus(int i) { return 0.5 * (0.5 * get(u, i) * get(u, i) - alpha * get(u, i)); }
double square(double a) { return a * a; }
double upwind(double a, double b, double c, double d, double e) {
  double s0 = 13.0 / 12 * square(a - 2 * b + c) + 0.25 * square(a - 4 * b + 3 * c);
  double s1 = 13.0 / 12 * square(b - 2 * c + d) + 0.25 * square(b - d);
  double s2 = 13.0 / 12 * square(c - 2 * d + e) + 0.25 * square(3 * c - 4 * d + e);
  double w0 = 0.1 / square(s0 + 0.000001), w1 = 0.6 / square(s1 + 0.000001), w2 = 0.3 / square(s2 + 0.000001);
  return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)) / (6 * (w0 + w1 + w2));
}
double face(int i) {
  return upwind(plus(i - 2), plus(i - 1), plus(i), plus(i + 1), plus(i + 2)) + upwind(minus(i + 3), minus(i + 2), minus(i + 1), minus(i), minus(i - 1));
}
double change() { return -ratio * (face(0) - face(-1)); }
CellValue first (u, old) { return get(u, 0) + change(), get(u, 0); }
CellValue second (u) { return 0.75 * get(old, 0) + 0.25 * (get(u, 0) + change()); }
CellValue third (u) { return (get(old, 0) + 2 * (get(u, 0) + change())) / 3; }
