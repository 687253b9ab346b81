# A fluid in a box whose lid, the high end of z, slides along x: velocities on the cells' faces, then pressure by artificial compressibility.
# Source: Chorin, "A numerical method for solving incompressible viscous flow problems" (1967), on Harlow and Welch's grid (1965).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (p, u, v, w)
Boundary p clamp
EdgeValue { return -value; }
Boundary u x constant 0
Boundary v y constant 0
Boundary w z constant 0
EdgeValue u z high { return 0.4 - value; }
Stages (momentum, pressure)
DefaultSize (224, 160, 193)
InputRange (-0.2, 0.2)
const double dt = 0.2;
const double nu = 0.06;
double speed(double c, double l, double r, double s, double n, double b, double t, double x, double y, double z) {
  return c - 0.5 * dt * (x * (r - l) + y * (n - s) + z * (t - b)) + nu * (l + r + s + n + b + t - 6 * c);
}
CellValue momentum (u, v, w) {
  double vu = 0.25 * (get(v, 0, 0, 0) + get(v, 1, 0, 0) + get(v, 0, -1, 0) + get(v, 1, -1, 0));
  double wu = 0.25 * (get(w, 0, 0, 0) + get(w, 1, 0, 0) + get(w, 0, 0, -1) + get(w, 1, 0, -1));
  double uv = 0.25 * (get(u, 0, 0, 0) + get(u, -1, 0, 0) + get(u, 0, 1, 0) + get(u, -1, 1, 0));
  double wv = 0.25 * (get(w, 0, 0, 0) + get(w, 0, 1, 0) + get(w, 0, 0, -1) + get(w, 0, 1, -1));
  double uw = 0.25 * (get(u, 0, 0, 0) + get(u, -1, 0, 0) + get(u, 0, 0, 1) + get(u, -1, 0, 1));
  double vw = 0.25 * (get(v, 0, 0, 0) + get(v, 0, -1, 0) + get(v, 0, 0, 1) + get(v, 0, -1, 1));
  double p0 = get(p, 0, 0, 0);
  return speed(get(u, 0, 0, 0), get(u, -1, 0, 0), get(u, 1, 0, 0), get(u, 0, -1, 0), get(u, 0, 1, 0), get(u, 0, 0, -1), get(u, 0, 0, 1), get(u, 0, 0, 0), vu, wu) - 0.3 * (get(p, 1, 0, 0) - p0),
         speed(get(v, 0, 0, 0), get(v, -1, 0, 0), get(v, 1, 0, 0), get(v, 0, -1, 0), get(v, 0, 1, 0), get(v, 0, 0, -1), get(v, 0, 0, 1), uv, get(v, 0, 0, 0), wv) - 0.3 * (get(p, 0, 1, 0) - p0),
         speed(get(w, 0, 0, 0), get(w, -1, 0, 0), get(w, 1, 0, 0), get(w, 0, -1, 0), get(w, 0, 1, 0), get(w, 0, 0, -1), get(w, 0, 0, 1), uw, vw, get(w, 0, 0, 0)) - 0.3 * (get(p, 0, 0, 1) - p0);
}
CellValue pressure (p) {
  return get(p, 0, 0, 0) - 0.3 * (get(u, 0, 0, 0) - get(u, -1, 0, 0) + get(v, 0, 0, 0) - get(v, 0, -1, 0) + get(w, 0, 0, 0) - get(w, 0, 0, -1));
}
