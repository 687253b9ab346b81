# A flame's front that wrinkles, on a ring: the Kuramoto-Sivashinsky equation with central differences of seven points.
# Source: Sivashinsky, "Nonlinear analysis of hydrodynamic instability in laminar flames" (1977); weights of Fornberg (1988).
NumDimensions 1
StencilSize (3)
DataType float
Boundary wrap
DefaultSize (50000003)
const float a[4] = {0, 45.0 / 60, -9.0 / 60, 1.0 / 60};
const float b[4] = {-49.0 / 18, 1.5, -0.15, 1.0 / 90};
const float c[4] = {28.0 / 3, -6.5, 2, -1.0 / 6};
CellValue {
  float rate = (b[0] + c[0]) * get(0);
  for (int k = 1; k <= 3; k++)
    rate += (b[k] + c[k]) * (get(k) + get(-k)) + 0.5 * a[k] * (get(k) * get(k) - get(-k) * get(-k));
  return get(0) - 0.04 * rate;
}
