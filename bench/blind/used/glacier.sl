# A glacier that flows by its weight: the shallow ice approximation, fluxes between cells.
# Source: Mahaffy, "A three-dimensional numerical model of ice sheets" (1976), with Glen's exponent 3.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (h)
ReadOnly (bed, snow)
Boundary clamp
DefaultSize (2801, 4201)
InputRange h (0.5, 1)
InputRange bed (0, 0.2)
InputRange snow (-0.001, 0.001)
double s(int i, int j) { return get(h, i, j) + get(bed, i, j); }
double flux(double thick, double along, double across) {
  double t2 = thick * thick;
  return 0.1 * t2 * t2 * thick * (along * along + across * across) * along;
}
double east(int i) {
  return flux(0.5 * (get(h, i, 0) + get(h, i + 1, 0)), s(i + 1, 0) - s(i, 0), 0.25 * (s(i, 1) + s(i + 1, 1) - s(i, -1) - s(i + 1, -1)));
}
double north(int j) {
  return flux(0.5 * (get(h, 0, j) + get(h, 0, j + 1)), s(0, j + 1) - s(0, j), 0.25 * (s(1, j) + s(1, j + 1) - s(-1, j) - s(-1, j + 1)));
}
CellValue { return fmax(0, get(h, 0, 0) + east(0) - east(-1) + north(0) - north(-1) + get(snow, 0, 0)); }
