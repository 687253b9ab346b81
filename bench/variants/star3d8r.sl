# A star of radius 8 in a volume, one weight for each distance.
NumDimensions 3
StencilSize (8, 8, 8)
DataType float
Boundary clamp
DefaultSize (512, 512, 512)
CellValue {
  float sum = 0.4 * get(0, 0, 0);
  for (int i = 1; i <= 8; i++)
    sum += 0.025 / i * (get(-i, 0, 0) + get(i, 0, 0) + get(0, -i, 0) + get(0, i, 0) + get(0, 0, -i) + get(0, 0, i));
  return sum;
}
