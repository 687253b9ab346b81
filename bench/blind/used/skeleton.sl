# Strokes of a drawing worn down to lines one pixel wide, from the south-east and then from the north-west; 1 is ink.
# Source: Zhang and Suen, "A fast parallel algorithm for thinning digital patterns" (1984).
NumDimensions 2
StencilSize (1, 1)
DataType uint8
Boundary constant 0
Stages (southeast, northwest)
DefaultSize (9999, 7001)
Steps 100
InputRange {0, 1, 1, 1, 1}
bool edge(int n, int e, int s, int w) {
  int p[9] = {n, get(1, -1), e, get(1, 1), s, get(-1, 1), w, get(-1, -1), n};
  int ink = 0, starts = 0;
  for (int k = 0; k < 8; k++) {
    ink += p[k];
    starts += p[k] == 0 && p[k + 1] == 1;
  }
  return ink >= 2 && ink <= 6 && starts == 1;
}
CellValue southeast {
  int n = get(0, -1), e = get(1, 0), s = get(0, 1), w = get(-1, 0);
  return edge(n, e, s, w) && n * e * s == 0 && e * s * w == 0 ? 0 : get(0, 0);
}
CellValue northwest {
  int n = get(0, -1), e = get(1, 0), s = get(0, 1), w = get(-1, 0);
  return edge(n, e, s, w) && n * e * w == 0 && n * s * w == 0 ? 0 : get(0, 0);
}
