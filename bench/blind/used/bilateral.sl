# A picture smoothed within its edges: weights fall with distance and with difference in brightness, 5 x 5 pixels.
# Source: Tomasi and Manduchi, "Bilateral filtering for gray and color images" (1998).
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary mirror
DefaultSize (4000, 3000)
Steps 10
InputRange (0, 1)
CellValue {
  float c = get(0, 0), sum = 0, weights = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      float p = get(i, j);
      float w = exp(-(i * i + j * j) / 4.5 - 50 * (p - c) * (p - c));
      sum += w * p;
      weights += w;
    }
  return sum / weights;
}
