# Thirteen points of a star of radius 2 in a volume.
# Source: shape of benchmark j3d13pt of Zhang et al., "EBISU" (ICS 2023).
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Boundary clamp
CellValue {
  float near = get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) +
               get(0, 0, -1) + get(0, 0, 1);
  float far = get(-2, 0, 0) + get(2, 0, 0) + get(0, -2, 0) + get(0, 2, 0) +
              get(0, 0, -2) + get(0, 0, 2);
  return 0.3125 * get(0, 0, 0) + 0.09375 * near + 0.020833333333333332 * far;
}
