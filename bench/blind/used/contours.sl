# The contours of a picture of 8 bits: smoothed, its gradient by Sobel's operator, of which only ridges are kept along the gradient's direction (one of four), and 255
# where they are strong, 128 where they may be. Applied once.
# Source: Canny, "A computational approach to edge detection" (1986), sections 6 and 8, with the smoothing of 5 x 5 and thresholds that are customary.
NumDimensions 2
StencilSize (2, 2)
DataType int
Fields (smooth: uint8, strength: int16, way: uint8, contour: uint8)
Temporary (smooth, strength, way)
ReadOnly (picture: uint8)
Boundary clamp
Stages (blur, gradient, ridges)
DefaultSize (7680, 4320)
Steps 1
InputRange picture (0, 255)
CellValue blur (smooth) {
  const int w[5] = {1, 4, 6, 4, 1};
  int sum = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) sum += w[i + 2] * w[j + 2] * get(picture, i, j);
  return (sum + 128) / 256;
}
CellValue gradient (strength, way) {
  int gx = get(smooth, 1, -1) + 2 * get(smooth, 1, 0) + get(smooth, 1, 1) - get(smooth, -1, -1) - 2 * get(smooth, -1, 0) - get(smooth, -1, 1);
  int gy = get(smooth, -1, 1) + 2 * get(smooth, 0, 1) + get(smooth, 1, 1) - get(smooth, -1, -1) - 2 * get(smooth, 0, -1) - get(smooth, 1, -1);
  int ax = abs(gx), ay = abs(gy);
  int across = gx * gy < 0 ? 3 : 1;
  return ax + ay, 1000 * ay < 414 * ax ? 0 : 414 * ay > 1000 * ax ? 2 : across;
}
CellValue ridges (contour) {
  int s = get(strength, 0, 0), w = get(way, 0, 0);
  int a = w == 0 ? get(strength, 1, 0) : w == 1 ? get(strength, 1, 1) : w == 2 ? get(strength, 0, 1) : get(strength, -1, 1);
  int b = w == 0 ? get(strength, -1, 0) : w == 1 ? get(strength, -1, -1) : w == 2 ? get(strength, 0, -1) : get(strength, 1, -1);
  return s <= a || s < b ? 0 : s >= 100 ? 255 : s >= 40 ? 128 : 0;
}
