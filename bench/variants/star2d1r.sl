# AN5D's star2d1r: five distinct weights.
# Source: Matsumura et al., "AN5D: automated stencil framework for high-degree temporal
# blocking on GPUs" (2020), table 2.
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary fixed
DefaultSize (16384, 16384)
CellValue {
  return 0.06251 * get(-1, 0) + 0.25503 * get(0, -1) + 0.25005 * get(0, 0) + 0.25505 * get(0, 1) + 0.17711 * get(1, 0);
}
