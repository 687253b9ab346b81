# A photograph without its texture: each step filters it anew, guided by what the step before left, by linear models of 7 x 7 pixels.
# Source: Zhang, Shen, Xu and Jia, "Rolling guidance filter" (2014), with the filter of He, Sun and Tang, "Guided image filtering" (2010), equations 5 to 8.
NumDimensions 2
StencilSize (3, 3)
DataType float
Fields (q, a, b)
ReadOnly (photo: uint8)
Temporary (a, b)
Boundary mirror
Stages (models, means)
DefaultSize (5616, 3744)
Steps 10
InputRange q (0, 255)
InputRange photo (0, 255)
CellValue models (a, b) {
  float mean = 0, guide = 0, product = 0, square = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      float g = get(q, i, j), p = get(photo, i, j);
      mean += p / 49;
      guide += g / 49;
      product += g * p / 49;
      square += g * g / 49;
    }
  float slope = (product - guide * mean) / (square - guide * guide + 400);
  return slope, mean - slope * guide;
}
CellValue means (q) {
  float slope = 0, offset = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      slope += get(a, i, j) / 49;
      offset += get(b, i, j) / 49;
    }
  return slope * get(q, 0, 0) + offset;
}
