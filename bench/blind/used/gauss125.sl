# A Gaussian of 5 x 5 x 5 voxels on a scan whose slices lie further apart than its pixels.
# Source: Lindeberg, "Scale-space for discrete signals" (1990); sampled, standard deviations 1.1, 1.1 and 0.7.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Boundary mirror
DefaultSize (512, 512, 283)
Steps 10
const float g[5] = {0.0707, 0.2445, 0.3696, 0.2445, 0.0707};
const float s[5] = {0.0096, 0.2054, 0.57, 0.2054, 0.0096};
CellValue {
  float sum = 0;
  for (int k = -2; k <= 2; k++)
    for (int j = -2; j <= 2; j++)
      for (int i = -2; i <= 2; i++)
        sum += g[i + 2] * g[j + 2] * s[k + 2] * get(i, j, k);
  return sum;
}
