# An image of 16-bit pixels, smoothed: less a hundredth of its Laplacian of a Gaussian, 5 x 5 pixels.
# Source: Marr and Hildreth, "Theory of edge detection" (1980); the integer mask of Gonzalez
# and Woods, "Digital Image Processing", section 10.2.
NumDimensions 2
StencilSize (2, 2)
DataType float16
Boundary mirror
DefaultSize (7952, 5304)
Steps 100
const int m[25] = {0, 0, -1, 0, 0, 0, -1, -2, -1, 0, -1, -2, 16, -2, -1, 0, -1, -2, -1, 0, 0, 0, -1, 0, 0};
CellValue {
  float sum = get(0, 0);
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++)
      if (m[5 * j + i] != 0) sum -= 0.01 * m[5 * j + i] * get(i - 2, j - 2);
  return sum;
}
