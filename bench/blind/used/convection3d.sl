# Heat that a uniform flow carries through a volume and that diffuses along each axis at its own rate:
# third-order upwind differences (kappa 1/3), twice as many points upstream.
# Source: van Leer, "Upwind-difference methods for aerodynamic problems governed by the Euler equations" (1985).
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Boundary clamp
DefaultSize (400, 320, 361)
CellValue {
  double c = get(0, 0, 0);
  double ax = (2 * get(1, 0, 0) + 3 * c - 6 * get(-1, 0, 0) + get(-2, 0, 0)) / 6;
  double ay = (2 * get(0, 1, 0) + 3 * c - 6 * get(0, -1, 0) + get(0, -2, 0)) / 6;
  double az = -(2 * get(0, 0, -1) + 3 * c - 6 * get(0, 0, 1) + get(0, 0, 2)) / 6;
  double dx = get(-1, 0, 0) - 2 * c + get(1, 0, 0), dy = get(0, -1, 0) - 2 * c + get(0, 1, 0);
  double dz = get(0, 0, -1) - 2 * c + get(0, 0, 1);
  return c - 0.21 * ax - 0.13 * ay - 0.08 * az + 0.05 * dx + 0.07 * dy + 0.11 * dz;
}
