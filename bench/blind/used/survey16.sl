# Seismic waves in a volume, sixth order in space; the velocities are stored in 16 bits, and waves are damped by depth.
# Source: Alford, Kelly and Boore, "Accuracy of finite-difference modeling of the acoustic wave equation" (1974),
# with the sixth-order weights of Fornberg (1988).
NumDimensions 3
StencilSize (3, 3, 3)
DataType float
Fields (u, old)
ReadOnly (m: float16, damp[z])
Boundary constant 0
DefaultSize (401, 481, 353)
InputRange m (0.02, 0.15)
InputRange damp (0, 0.05)
const float c[4] = {-49.0 / 18, 1.5, -0.15, 1.0 / 90};
CellValue {
  float lap = 3 * c[0] * get(u, 0, 0, 0);
  for (int k = 1; k <= 3; k++)
    lap += c[k] * (get(u, -k, 0, 0) + get(u, k, 0, 0) + get(u, 0, -k, 0) + get(u, 0, k, 0) + get(u, 0, 0, -k) + get(u, 0, 0, k));
  float d = get(damp, 0);
  return (2 - d) * get(u, 0, 0, 0) - (1 - d) * get(old, 0, 0, 0) + get(m, 0, 0, 0) * lap, get(u, 0, 0, 0);
}
