# A plate that cools until no cell changes by more than a thousandth in a step.
NumDimensions 2
StencilSize (1, 1)
Boundary constant 0
CellValue { return 0.22 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)); }
Reduce max { return fabs(value - get(0, 0)); }
Until < 1e-3 every 4
