# Conway's game of life.
NumDimensions 2
StencilSize (1, 1)
DataType int
Boundary wrap
CellValue {
  int n = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (i != 0 || j != 0) n += get(i, j);
  if (n == 3) return 1;
  return n == 2 ? get(0, 0) : 0;
}
