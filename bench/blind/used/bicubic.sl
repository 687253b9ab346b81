# A semi-Lagrangian step: the value at the departure point, 0.37 and 0.22 cells upwind, by
# cubic Lagrange interpolation of 4 x 4 cells, each with a weight of its own.
# Source: Staniforth and Cote, "Semi-Lagrangian integration schemes for atmospheric models" (1991).
NumDimensions 2
StencilSize (2, 2)
DataType double
Boundary wrap
DefaultSize (7200, 3601)
const double a = 0.37;
const double b = 0.22;
const double wx[4] = {-a * (1 - a * a) / 6, a * (1 + a) * (2 - a) / 2, (1 - a * a) * (2 - a) / 2, -a * (1 - a) * (2 - a) / 6};
const double wy[4] = {-b * (1 - b * b) / 6, b * (1 + b) * (2 - b) / 2, (1 - b * b) * (2 - b) / 2, -b * (1 - b) * (2 - b) / 6};
CellValue {
  double sum = 0;
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 4; i++)
      sum += wx[i] * wy[j] * get(i - 2, j - 2);
  return sum;
}
