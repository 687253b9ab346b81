# What moved between two frames of a film, and where to: around each pixel the motion that explains best, over 7 x 7 pixels that count the less the further they are, how brightness changed. Applied once.
# Source: Lucas and Kanade, "An iterative image registration technique" (1981), section 4; Barron, Fleet and Beauchemin, "Performance of optical flow techniques" (1994), section 2.1, equations 7 to 9.
NumDimensions 2
StencilSize (4, 4)
DataType float
Fields (u, v)
ReadOnly (before: uint8, after: uint8)
Boundary mirror
DefaultSize (3840, 2160)
Steps 1
InputRange before (0, 255)
InputRange after (0, 255)
float sx(int i, int j) { return 0.25 * (get(before, i + 1, j) - get(before, i - 1, j) + get(after, i + 1, j) - get(after, i - 1, j)); }
float sy(int i, int j) { return 0.25 * (get(before, i, j + 1) - get(before, i, j - 1) + get(after, i, j + 1) - get(after, i, j - 1)); }
float st(int i, int j) { return get(after, i, j) - get(before, i, j); }
CellValue {
  float a = 0, b = 0, c = 0, p = 0, q = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      const float w = (4 - abs(i)) * (4 - abs(j)) / 256.0;
      a += w * (sx(i, j) * sx(i, j));
      b += w * (sx(i, j) * sy(i, j));
      c += w * (sy(i, j) * sy(i, j));
      p += w * (sx(i, j) * st(i, j));
      q += w * (sy(i, j) * st(i, j));
    }
  float det = a * c - b * b + 10;
  return (b * q - c * p) / det, (b * p - a * q) / det;
}
