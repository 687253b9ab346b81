# An excitable volume: a cell at rest (0) is excited (1) by 8 excited ones of the 5 x 5 x 5 around it, and then rests in four steps.
# Source: Fisch, Gravner and Griffeath, "Metastability in the Greenberg-Hastings model" (1993), range 2, in three dimensions.
NumDimensions 3
StencilSize (2, 2, 2)
DataType uint8
Boundary (wrap, clamp, constant 0)
DefaultSize (480, 480, 401)
InputRange {0, 1, 2, 3, 4}
CellValue {
  int excited = 0;
  for (int k = -2; k <= 2; k++)
    for (int j = -2; j <= 2; j++)
      for (int i = -2; i <= 2; i++)
        excited += get(i, j, k) == 1;
  int c = get(0, 0, 0);
  return c == 0 ? excited >= 8 : (c + 1) % 5;
}
