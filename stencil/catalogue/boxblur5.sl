# Box blur of 5x5 cells: their mean.
# Source: Prasetya (2022), thesis on memory access order of stencils, section 3.3,
# equation 3.1 and listing 2.
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary clamp
DefaultSize (8192, 8192)
Steps 1
CellValue {
  float sum = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++)
      sum += get(i, j);
  return sum / 25;
}
