# AN5D's j2d5pt: five distinct weights, divided by 118.
# Source: Matsumura et al., "AN5D: automated stencil framework for high-degree temporal
# blocking on GPUs" (2020), table 2.
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary fixed
DefaultSize (16384, 16384)
CellValue {
  return (5.1 * get(-1, 0) + 12.1 * get(0, -1) + 15 * get(0, 0) + 12.2 * get(0, 1) + 5.2 * get(1, 0)) / 118;
}
