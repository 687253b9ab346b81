# Grains in a volume: the Allen-Cahn equation with a double well.
# Source: Allen and Cahn, "A microscopic theory for antiphase boundary motion" (1979).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Boundary (wrap, wrap, fixed)
DefaultSize (320, 300, 301)
CellValue {
  double c = get(0, 0, 0);
  double lap = get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1) - 6 * c;
  return c + 0.1 * lap + 0.05 * c * (1 - c * c);
}
