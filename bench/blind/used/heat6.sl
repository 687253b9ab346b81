# Heat on cells twice as wide as high, sixth order in space: a star of radius 3.
# Source: Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids" (1988), table 1.
NumDimensions 2
StencilSize (3, 3)
DataType double
Boundary fixed
DefaultSize (8000, 6000)
const double c[4] = {-49.0 / 18, 1.5, -0.15, 1.0 / 90};
CellValue {
  double sum = get(0, 0) + (0.04 + 0.16) * c[0] * get(0, 0);
  for (int k = 1; k <= 3; k++)
    sum += c[k] * (0.04 * (get(-k, 0) + get(k, 0)) + 0.16 * (get(0, -k) + get(0, k)));
  return sum;
}
