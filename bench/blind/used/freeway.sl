# Cars on a ring road: each speeds up to 5 cells a step, but no further than to the car ahead. 0 is a free cell, else the speed and 1.
# Source: Nagel and Schreckenberg, "A cellular automaton model for freeway traffic" (1992), without its dice.
NumDimensions 1
StencilSize (5)
DataType uint8
Boundary wrap
DefaultSize (150000001)
InputRange {0, 0, 0, 1}
CellValue {
  int now = 0;
  for (int k = 0; k <= 5; k++) {
    int gap = 0;
    for (int j = 5; j >= 1; j--) gap = get(j - k) == 0 ? gap + 1 : 0;
    int speed = min(min((int)get(-k), 5), gap);
    if (get(-k) != 0 && speed == k) now = k + 1;
  }
  return now;
}
