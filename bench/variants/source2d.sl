# jacobi2d with a source: an array of a value a cell, added in each step.
NumDimensions 2
StencilSize (1, 1)
DataType float
ReadOnly (f)
Boundary clamp
DefaultSize (16384, 16384)
CellValue {
  return 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)) + get(f, 0, 0);
}
