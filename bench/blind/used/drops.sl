# Drops that fall and merge between two walls: a phase c (-1 or 1) that its potential m drives and a viscous fluid carries; pressure p by artificial
# compressibility. u lies on the cells' left sides, v between a cell and the one above it: there is a row less.
# Source: Jacqmin, "Calculation of two-phase Navier-Stokes flows using phase-field modeling" (1999), equal densities but for the weight; Harlow and
# Welch's grid (1965); Chorin (1967) for the pressure.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (c, m, p, u, v)
Temporary (m)
Short (v y)
Boundary (wrap, clamp)
Boundary v y constant 0
EdgeValue u y { return -value; }
Stages (potential, motion, transport)
DefaultSize (3000, 1801)
InputRange p (-0.1, 0.1)
InputRange u (-0.1, 0.1)
InputRange v (-0.1, 0.1)
const double dt = 0.1;
const double viscosity = 0.4;
const double tension = 0.2;
const double weight = 0.002;
CellValue potential (m) {
  double a = get(c, 0, 0);
  return a * a * a - a - (get(c, -1, 0) + get(c, 1, 0) + get(c, 0, -1) + get(c, 0, 1) - 4 * a);
}
CellValue motion (u, v) {
  double a = get(u, 0, 0), b = get(v, 0, 0);
  double uw = 0.5 * (get(u, -1, 0) + a), uo = 0.5 * (a + get(u, 1, 0)), us = 0.5 * (get(u, 0, -1) + a), un = 0.5 * (a + get(u, 0, 1));
  double vs = 0.5 * (get(v, -1, -1) + get(v, 0, -1)), vn = 0.5 * (get(v, -1, 0) + b);
  double alongx = uo * uo - uw * uw + un * vn - us * vs;
  double vo = 0.5 * (b + get(v, 1, 0)), up = 0.5 * (get(v, 0, -1) + b), upper = 0.5 * (b + get(v, 0, 1));
  double right = 0.5 * (get(u, 1, 0) + get(u, 1, 1));
  double alongy = right * vo - un * vn + upper * upper - up * up;
  double lapu = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * a;
  double lapv = get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1) - 4 * b;
  double fx = 0.5 * tension * (get(m, -1, 0) + get(m, 0, 0)) * (get(c, 0, 0) - get(c, -1, 0));
  double fy = 0.5 * tension * (get(m, 0, 0) + get(m, 0, 1)) * (get(c, 0, 1) - get(c, 0, 0)) - 0.5 * weight * (get(c, 0, 0) + get(c, 0, 1));
  return a + dt * (viscosity * lapu - alongx - get(p, 0, 0) + get(p, -1, 0) + fx),
         b + dt * (viscosity * lapv - alongy - get(p, 0, 1) + get(p, 0, 0) + fy);
}
CellValue transport (p, c) {
  double a = get(c, 0, 0), w = get(u, 0, 0), o = get(u, 1, 0), s = get(v, 0, -1), n = get(v, 0, 0);
  double carried = 0.5 * (o * (a + get(c, 1, 0)) - w * (get(c, -1, 0) + a) + n * (a + get(c, 0, 1)) - s * (get(c, 0, -1) + a));
  double lap = get(m, -1, 0) + get(m, 1, 0) + get(m, 0, -1) + get(m, 0, 1) - 4 * get(m, 0, 0);
  return get(p, 0, 0) - dt * (o - w + n - s), a - dt * (carried - 0.1 * lap);
}
