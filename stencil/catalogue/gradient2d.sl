# A cell moves by the inverse of the local gradient's length.
# Source: benchmark gradient2d of Rawat et al. (PPoPP 2018) and of AN5D (CGO 2020);
# damped, and with 1 for their 0.0001 under the root, so that the iteration stays
# bounded and rounding is not amplified.
NumDimensions 2
StencilSize (1, 1)
DataType float
Boundary clamp
CellValue {
  float c = get(0, 0);
  float w = c - get(-1, 0), e = c - get(1, 0);
  float n = c - get(0, -1), s = c - get(0, 1);
  return 0.9 * c + 0.1 / sqrt(1 + w * w + e * e + n * n + s * s);
}
