# Where a picture has edges: it is blurred, its slope taken, thinned to where the slope is steepest across the edge, and marked as weak or strong. Applied once.
# Source: Canny, "A computational approach to edge detection" (1986), sections V to VIII; the blur has standard deviation 1.4 over 5 x 5 pixels.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (blurred, slope, edge: uint8)
Temporary (blurred, slope)
ReadOnly (picture: uint8)
Boundary clamp
Stages (blur, steepness, thin)
DefaultSize (7680, 4320)
Steps 1
InputRange picture (0, 255)
float gx(int i, int j) { return get(blurred, i + 1, j - 1) - get(blurred, i - 1, j - 1) + 2 * (get(blurred, i + 1, j) - get(blurred, i - 1, j)) + get(blurred, i + 1, j + 1) - get(blurred, i - 1, j + 1); }
float gy(int i, int j) { return get(blurred, i - 1, j + 1) - get(blurred, i - 1, j - 1) + 2 * (get(blurred, i, j + 1) - get(blurred, i, j - 1)) + get(blurred, i + 1, j + 1) - get(blurred, i + 1, j - 1); }
CellValue blur (blurred) {
  const float w[25] = {2, 4, 5, 4, 2, 4, 9, 12, 9, 4, 5, 12, 15, 12, 5, 4, 9, 12, 9, 4, 2, 4, 5, 4, 2};
  float s = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) s += w[(j + 2) * 5 + i + 2] * get(picture, i, j);
  return s / 159;
}
CellValue steepness (slope) {
  float a = gx(0, 0), b = gy(0, 0);
  return sqrt(a * a + b * b);
}
CellValue thin (edge) {
  float a = gx(0, 0), b = gy(0, 0), here = get(slope, 0, 0), one = 0, two = 0;
  if (abs(b) <= 0.41421356 * abs(a)) { one = get(slope, -1, 0); two = get(slope, 1, 0); }
  else if (abs(a) <= 0.41421356 * abs(b)) { one = get(slope, 0, -1); two = get(slope, 0, 1); }
  else if (a * b > 0) { one = get(slope, -1, -1); two = get(slope, 1, 1); }
  else { one = get(slope, 1, -1); two = get(slope, -1, 1); }
  if (here < one || here <= two) return 0;
  return here > 100 ? 255 : here > 40 ? 128 : 0;
}
