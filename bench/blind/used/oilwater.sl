# Water that drives oil out of rock, and sinks in it: Buckley and Leverett's fluxes, slopes limited as van Albada does, water comes in at the left.
# Source: Kurganov and Tadmor, "New high-resolution central schemes for nonlinear conservation laws and convection-diffusion equations" (2000), with one speed.
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary (clamp, mirror)
Boundary x (constant 1, clamp)
DefaultSize (4097, 8192)
InputRange (0, 1)
float share(float s) { return s * s / (s * s + 0.5 * (1 - s) * (1 - s)); }
float sinking(float s) { return share(s) * (1 - 2 * (1 - s) * (1 - s)); }
float slope(float a, float b) { return a * b > 0 ? 0.5 * a * b * (a + b) / (a * a + b * b) : 0; }
float fx(int i) {
  float l = get(i, 0) + slope(get(i, 0) - get(i - 1, 0), get(i + 1, 0) - get(i, 0));
  float r = get(i + 1, 0) - slope(get(i + 1, 0) - get(i, 0), get(i + 2, 0) - get(i + 1, 0));
  return 0.5 * (share(l) + share(r)) - 1.2 * (r - l);
}
float fy(int j) {
  float l = get(0, j) + slope(get(0, j) - get(0, j - 1), get(0, j + 1) - get(0, j));
  float r = get(0, j + 1) - slope(get(0, j + 1) - get(0, j), get(0, j + 2) - get(0, j + 1));
  return 0.5 * (sinking(l) + sinking(r)) - 1.2 * (r - l);
}
CellValue { return get(0, 0) - 0.09 * (fx(0) - fx(-1) + fy(0) - fy(-1)); }
