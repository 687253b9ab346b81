# Plate with the diagonal neighbours: eight cells around.
# Source: PlateHalo in section 7.6 of "A Language and Optimizing Compiler for
# Iterative Stencil Loops". The paper gives no text; these temperatures are ours.
NumDimensions 2
StencilSize (1, 1)
DataType float
DefaultSize (8192, 8192)
Steps 1000
CellValue {
  float sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (i != 0 || j != 0)
        sum += get(i, j);
  return 0.125 * sum;
}
EdgeValue {
  return y < 0 ? 100.0 : 0.0;
}
