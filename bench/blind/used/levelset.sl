# A level set made a distance again: Godunov's Hamiltonian, second-order essentially non-oscillatory differences.
# Source: Sussman, Smereka and Osher, "A level set approach for computing solutions to incompressible two-phase flow" (1994);
# Shu and Osher (1988) for the differences. s is the smoothed sign of the level set at the start.
NumDimensions 2
StencilSize (2, 2)
DataType double
Fields (d)
ReadOnly (s)
Boundary clamp
DefaultSize (3001, 3001)
double least(double a, double b) {
  if (a * b <= 0) return 0;
  return fabs(a) < fabs(b) ? a : b;
}
double xx(int i) { return get(d, i - 1, 0) - 2 * get(d, i, 0) + get(d, i + 1, 0); }
double yy(int j) { return get(d, 0, j - 1) - 2 * get(d, 0, j) + get(d, 0, j + 1); }
double most(double sign, double minus, double plus) {
  double a = sign > 0 ? fmax(minus, 0) : fmin(minus, 0);
  double b = sign > 0 ? fmin(plus, 0) : fmax(plus, 0);
  return fmax(a * a, b * b);
}
CellValue {
  double w = get(d, 0, 0) - get(d, -1, 0) + 0.5 * least(xx(-1), xx(0));
  double e = get(d, 1, 0) - get(d, 0, 0) - 0.5 * least(xx(0), xx(1));
  double b = get(d, 0, 0) - get(d, 0, -1) + 0.5 * least(yy(-1), yy(0));
  double t = get(d, 0, 1) - get(d, 0, 0) - 0.5 * least(yy(0), yy(1));
  double sign = get(s, 0, 0);
  return get(d, 0, 0) - 0.3 * sign * (sqrt(most(sign, w, e) + most(sign, b, t)) - 1);
}
