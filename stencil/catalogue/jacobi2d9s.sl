# Nine points of a star of radius 2.
# Source: shape of benchmark j2d9pt of Matsumura et al., "AN5D" (CGO 2020); weights
# 4/9, 1/9 and 1/36 for the cell, the near and the far points.
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary clamp
CellValue {
  float near = get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1);
  float far = get(-2, 0) + get(2, 0) + get(0, -2) + get(0, 2);
  return (16 * get(0, 0) + 4 * near + far) / 36;
}
