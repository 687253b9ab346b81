# Jacobi's iteration inside of edges that never change.
NumDimensions 2
StencilSize (1, 1)
DataType double
Boundary fixed
CellValue { return 0.25 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)); }
