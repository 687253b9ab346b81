# Values that only move. Some have no root, so that the number is none and compares with nothing.
NumDimensions 1
StencilSize (1)
DataType half
Boundary wrap
CellValue { return get(1); }
Reduce min { return sqrt(value); }
Until < 1 every 2
