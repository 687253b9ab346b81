# Box of 9x9 cells: their mean.
# Source: the box blur of Prasetya (2022), thesis on memory access order of stencils,
# section 3.3, with radius 4.
NumDimensions 2
StencilSize (4, 4)
DataType float
Boundary clamp
DefaultSize (8192, 8192)
Steps 1
CellValue {
  float sum = 0;
  for (int j = -4; j <= 4; j++)
    for (int i = -4; i <= 4; i++)
      sum += get(i, j);
  return sum / 81;
}
