# What a steady wind carries, second order where it is smooth.
NumDimensions 1
StencilSize (2)
DataType double
ScalarVariables (double c = 0.4)
Boundary wrap
double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return fabs(a) < fabs(b) ? a : b;
}
double face(int i) { return get(i) + 0.5 * (1 - c) * minmod(get(i) - get(i - 1), get(i + 1) - get(i)); }
CellValue { return get(0) - c * (face(0) - face(-1)); }
