# Gas in a shock tube: Euler's equations by Richtmyer's two steps, to the cells' faces and back.
# Source: Richtmyer and Morton, "Difference Methods for Initial-Value Problems" (1967), section 12.7; Sod (1978).
NumDimensions 1
StencilSize (1)
DataType double
Fields (r, m, e, rh, mh, eh)
Temporary (rh, mh, eh)
Boundary clamp
Stages (faces, cells)
DefaultSize (10000001)
InputRange r (1, 1.5)
InputRange m (-0.1, 0.1)
InputRange e (2, 2.5)
const double l = 0.2;
double pressure(double a, double b, double c) { return 0.4 * (c - 0.5 * b * b / a); }
CellValue faces (rh, mh, eh) {
  double p = pressure(get(r, 0), get(m, 0), get(e, 0)), q = pressure(get(r, 1), get(m, 1), get(e, 1));
  double v = get(m, 0) / get(r, 0), w = get(m, 1) / get(r, 1);
  return 0.5 * (get(r, 0) + get(r, 1)) - 0.5 * l * (get(m, 1) - get(m, 0)),
         0.5 * (get(m, 0) + get(m, 1)) - 0.5 * l * (get(m, 1) * w + q - get(m, 0) * v - p),
         0.5 * (get(e, 0) + get(e, 1)) - 0.5 * l * (w * (get(e, 1) + q) - v * (get(e, 0) + p));
}
CellValue cells (r, m, e) {
  double p = pressure(get(rh, -1), get(mh, -1), get(eh, -1)), q = pressure(get(rh, 0), get(mh, 0), get(eh, 0));
  double v = get(mh, -1) / get(rh, -1), w = get(mh, 0) / get(rh, 0);
  return get(r, 0) - l * (get(mh, 0) - get(mh, -1)),
         get(m, 0) - l * (get(mh, 0) * w + q - get(mh, -1) * v - p),
         get(e, 0) - l * (w * (get(eh, 0) + q) - v * (get(eh, -1) + p));
}
