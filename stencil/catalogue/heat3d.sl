# Explicit heat equation in a volume.
# Source: benchmark heat-3d of PolyBench 4.2, with its coefficient 0.125.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Boundary clamp
CellValue {
  float c = get(0, 0, 0);
  return 0.125 * (get(1, 0, 0) - 2 * c + get(-1, 0, 0)) +
         0.125 * (get(0, 1, 0) - 2 * c + get(0, -1, 0)) +
         0.125 * (get(0, 0, 1) - 2 * c + get(0, 0, -1)) + c;
}
