# A sheet of neurons: each fires by its voltage, excites those near to it and inhibits those further away, 9 x 9 cells.
# Source: Amari, "Dynamics of pattern formation in lateral-inhibition type neural fields" (1977), with Wilson and Cowan's logistic rate (1972).
NumDimensions 2
StencilSize (4, 4)
DataType float
Fields (u, f)
ReadOnly (s)
Temporary (f)
Boundary clamp
Stages (fire, hear)
DefaultSize (5001, 4800)
InputRange s (0, 0.5)
const float near[9] = {0.0013, 0.0146, 0.0829, 0.2349, 0.3325, 0.2349, 0.0829, 0.0146, 0.0013};  # standard deviations 1.2 and 2.5
const float far[9] = {0.0477, 0.0835, 0.1246, 0.1584, 0.1716, 0.1584, 0.1246, 0.0835, 0.0477};
CellValue fire (f) { return 1 / (1 + exp(-8 * (get(u, 0, 0) - 0.3))); }
CellValue hear (u) {
  float sum = 0;
  for (int j = -4; j <= 4; j++)
    for (int i = -4; i <= 4; i++)
      sum += (3 * near[i + 4] * near[j + 4] - 2.2 * far[i + 4] * far[j + 4]) * get(f, i, j);
  return get(u, 0, 0) + 0.1 * (sum + get(s, 0, 0) - get(u, 0, 0));
}
