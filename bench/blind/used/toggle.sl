# A tomogram made sharper: each voxel becomes the least or the greatest of the 27 around it, whichever is nearer to it.
# Source: Kramer and Bruckner, "Iterations of a non-linear transformation for enhancement of digital images" (1975), in three dimensions.
NumDimensions 3
StencilSize (1, 1, 1)
DataType int16
Boundary clamp
DefaultSize (512, 512, 403)
Steps 20
InputRange (-1024, 3071)
CellValue {
  int c = get(0, 0, 0), low = c, high = c;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        low = min(low, (int)get(i, j, k));
        high = max(high, (int)get(i, j, k));
      }
  if (high - c == c - low) return c;
  return high - c < c - low ? high : low;
}
