# jacobi3d's seven points and a weak reaction c (1 - c).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Boundary clamp
DefaultSize (512, 512, 512)
InputRange (0, 1)
CellValue {
  float c = get(0, 0, 0);
  float around = get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1);
  return 0.4 * c + 0.1 * around + 0.01 * c * (1 - c);
}
