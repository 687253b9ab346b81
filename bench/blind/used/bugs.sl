# "Larger than life": a cell lives by how many of the 49 around it do.
# Source: Evans, "Larger than life: digital creatures in a family of two-dimensional cellular automata" (2001), range 3.
NumDimensions 2
StencilSize (3, 3)
DataType uint8
Boundary wrap
DefaultSize (10000, 10000)
CellValue {
  int n = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++)
      n += get(i, j);
  return get(0, 0) == 1 ? n >= 14 && n <= 24 : n >= 14 && n <= 19;
}
