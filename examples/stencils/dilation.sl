# The brightest of nine pixels.
NumDimensions 2
StencilSize (1, 1)
DataType uint8
Boundary clamp
InputRange (0, 255)
CellValue {
  int most = 0, i, j;
  for (j = -1; j <= 1; j++)
    for (i = -1; i <= 1; i++)
      most = max(most, get(i, j));
  return most;
}
