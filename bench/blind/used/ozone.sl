# Ozone that a given wind carries: its speeds through the cells' high faces, in cells a step; slopes limited by their harmonic mean.
# Source: van Leer, "Towards the ultimate conservative difference scheme II" (1974), all three axes at once, for the mixing ratio:
# where the air spreads or gathers, the ratio does not change by that.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (c)
ReadOnly (u, v, w)
Boundary (wrap, clamp, clamp)
DefaultSize (360, 181, 301)
InputRange c (0, 1)
InputRange (-0.15, 0.15)
float slope(float a, float b) { return a * b > 0 ? 2 * a * b / (a + b) : 0; }
float through(float speed, float far, float low, float high, float beyond) {
  if (speed > 0) return speed * (low + 0.5 * (1 - speed) * slope(low - far, high - low));
  return speed * (high - 0.5 * (1 + speed) * slope(high - low, beyond - high));
}
float fx(int i) { return through(get(u, i, 0, 0), get(c, i - 1, 0, 0), get(c, i, 0, 0), get(c, i + 1, 0, 0), get(c, i + 2, 0, 0)); }
float fy(int j) { return through(get(v, 0, j, 0), get(c, 0, j - 1, 0), get(c, 0, j, 0), get(c, 0, j + 1, 0), get(c, 0, j + 2, 0)); }
float fz(int k) { return through(get(w, 0, 0, k), get(c, 0, 0, k - 1), get(c, 0, 0, k), get(c, 0, 0, k + 1), get(c, 0, 0, k + 2)); }
CellValue {
  float spread = get(u, 0, 0, 0) - get(u, -1, 0, 0) + get(v, 0, 0, 0) - get(v, 0, -1, 0) + get(w, 0, 0, 0) - get(w, 0, 0, -1);
  return get(c, 0, 0, 0) * (1 + spread) - (fx(0) - fx(-1) + fy(0) - fy(-1) + fz(0) - fz(-1));
}
