# A sharp-edged tracer in a uniform wind, second order, limited by "superbee", axis by axis.
# Source: Roe, "Characteristic-based schemes for the Euler equations" (1986); Sweby, "High resolution schemes using flux limiters" (1984).
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary wrap
DefaultSize (5000, 5000)
float limited(float a, float b) {
  float s = a > 0 ? 1 : -1;
  float one = fmin(2 * fabs(a), s * b), two = fmin(fabs(a), 2 * s * b);
  return s * fmax(0, fmax(one, two));
}
float fx(int i) { return get(i, 0) + 0.5 * (1 - 0.3) * limited(get(i, 0) - get(i - 1, 0), get(i + 1, 0) - get(i, 0)); }
float fy(int j) { return get(0, j) + 0.5 * (1 - 0.4) * limited(get(0, j) - get(0, j - 1), get(0, j + 1) - get(0, j)); }
CellValue { return get(0, 0) - 0.3 * (fx(0) - fx(-1)) - 0.4 * (fy(0) - fy(-1)); }
