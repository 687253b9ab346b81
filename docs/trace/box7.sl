# Box of 7x7 cells: their mean.
# Source: the stencil of the spatial-temporal diagrams of Prasetya (2022), thesis
# on memory access order of stencils, table 3.1.
NumDimensions 2
StencilSize (3, 3)
DataType float
Boundary clamp
DefaultSize (16, 16)
Steps 1
CellValue {
  float sum = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++)
      sum += get(i, j);
  return sum / 49;
}
