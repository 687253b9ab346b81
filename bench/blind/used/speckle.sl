# Speckle of a radar picture of bytes, smoothed by a bilateral filter of 5 x 5 pixels: near ones count, and those of about the same brightness.
# Source: Tomasi and Manduchi, "Bilateral filtering for gray and color images" (1998), section 2, Gaussian domain and range.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (v: uint8)
Boundary mirror
DefaultSize (7800, 5200)
Steps 5
InputRange v (0, 255)
const float range = 24;
const float domain = 1.5;
CellValue {
  float c = get(v, 0, 0);
  float sum = c;
  float all = 1;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++)
      if (i != 0 || j != 0) {
        float d = get(v, i, j) - c;
        float w = exp(-(i * i + j * j) / (2 * domain * domain)) * exp(-d * d / (2 * range * range));
        sum += w * get(v, i, j);
        all += w;
      }
  return sum / all + 0.5;
}
