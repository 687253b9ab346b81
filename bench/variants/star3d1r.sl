# AN5D's star3d1r: seven distinct weights.
# Source: Matsumura et al., "AN5D: automated stencil framework for high-degree temporal
# blocking on GPUs" (2020), table 2.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Boundary fixed
DefaultSize (512, 512, 512)
CellValue {
  return 0.2416 * get(0, 0, 0) + 0.1248 * get(0, 0, -1) + 0.1258 * get(0, 0, 1) + 0.1269 * get(-1, 0, 0) +
         0.1271 * get(0, -1, 0) + 0.1274 * get(0, 1, 0) + 0.1264 * get(1, 0, 0);
}
