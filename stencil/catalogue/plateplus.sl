# Plate with two cells in each of the four directions.
# Source: Plate++ in section 7.6 of "A Language and Optimizing Compiler for
# Iterative Stencil Loops". The paper gives no text; these temperatures are ours.
NumDimensions 2
StencilSize (2, 2)
DataType float
DefaultSize (8192, 8192)
Steps 1000
CellValue {
  float sum = 0;
  for (int i = 1; i <= 2; i++)
    sum += get(-i, 0) + get(i, 0) + get(0, -i) + get(0, i);
  return 0.125 * sum;
}
EdgeValue {
  return y < 0 ? 100.0 : 0.0;
}
