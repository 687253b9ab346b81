# A star of radius 4 in a volume, one weight for each distance.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
Boundary clamp
DefaultSize (512, 512, 512)
CellValue {
  float sum = 0.4 * get(0, 0, 0);
  for (int i = 1; i <= 4; i++)
    sum += 0.05 / i * (get(-i, 0, 0) + get(i, 0, 0) + get(0, -i, 0) + get(0, i, 0) + get(0, 0, -i) + get(0, 0, i));
  return sum;
}
