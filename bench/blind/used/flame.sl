# A premixed flame: temperature and fuel, burning as Arrhenius says; fresh gas at the left, burnt at the right.
# Source: Williams, "Combustion Theory" (1985), thermal-diffusive model; Zeldovich number 8, Lewis number 0.8.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (t, f)
Boundary (clamp, wrap)
Boundary t x (constant 0, clamp)
Boundary f x (constant 1, clamp)
DefaultSize (5000, 3000)
InputRange (0, 1)
CellValue {
  float a = get(t, 0, 0), b = get(f, 0, 0);
  float lt = get(t, -1, 0) + get(t, 1, 0) + get(t, 0, -1) + get(t, 0, 1) - 4 * a;
  float lf = get(f, -1, 0) + get(f, 1, 0) + get(f, 0, -1) + get(f, 0, 1) - 4 * b;
  float rate = 0.2 * b * exp(8 * (a - 1) / (1 + 0.8 * (a - 1)));
  return a + 0.16 * lt + rate - 0.1 * (a - get(t, -1, 0)), b + 0.2 * lf - rate - 0.1 * (b - get(f, -1, 0));
}
