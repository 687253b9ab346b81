# A picture whose noise goes: each pixel becomes the average of the 5 x 5 around it, each weighed by how much the 3 x 3 around it looks like the own 3 x 3. Applied once.
# Source: Buades, Coll and Morel, "A non-local algorithm for image denoising" (2005), equations 1 and 2, with windows of 5 x 5 and 3 x 3.
NumDimensions 2
StencilSize (3, 3)
DataType float
Fields (clean)
ReadOnly (noisy: uint8)
Boundary mirror
DefaultSize (4000, 3000)
Steps 1
InputRange noisy (0, 255)
const float filter = 60;        # times the noise's
float weight(int i, int j) {
  float far = 0;
  for (int b = -1; b <= 1; b++)
    for (int a = -1; a <= 1; a++) {
      float d = get(noisy, i + a, j + b) - get(noisy, a, b);
      far += d * d;
    }
  return exp(-far / (9 * filter * filter));
}
CellValue {
  float sum = 0, weights = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      float w = weight(i, j);
      sum += w * get(noisy, i, j);
      weights += w;
    }
  return sum / weights;
}
