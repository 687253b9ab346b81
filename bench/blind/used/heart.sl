# How a beating heart moves between two scans of a volume: the smoothest flow that explains the change of brightness, a step of Jacobi's method.
# Source: Song and Leahy, "Computation of 3-D velocity fields from 3-D cine CT images of a human heart" (1991), without incompressibility; differences
# and averages as in Horn and Schunck, "Determining optical flow" (1981), sections 7 to 12, with the nearer of 26 neighbours heavier.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u, v, w)
ReadOnly (before: int16, after: int16)
Boundary clamp
DefaultSize (512, 512, 90)
Steps 200
InputRange before (-100, 400)
InputRange after (-100, 400)
float both(int i, int j, int k) { return get(before, i, j, k) + get(after, i, j, k); }
float later(int i, int j, int k) { return get(after, i, j, k) - get(before, i, j, k); }
CellValue {
  float ex = 0, ey = 0, ez = 0, et = 0;
  for (int k = 0; k <= 1; k++)
    for (int j = 0; j <= 1; j++) {
      ex += 0.125 * (both(1, j, k) - both(0, j, k));
      ey += 0.125 * (both(j, 1, k) - both(j, 0, k));
      ez += 0.125 * (both(j, k, 1) - both(j, k, 0));
      et += 0.125 * (later(0, j, k) + later(1, j, k));
    }
  const float weight[4] = {0, 6.0 / 88, 3.0 / 88, 2.0 / 88};
  float um = 0, vm = 0, wm = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        const int far = abs(i) + abs(j) + abs(k);
        if (far > 0) {
          um += weight[far] * get(u, i, j, k);
          vm += weight[far] * get(v, i, j, k);
          wm += weight[far] * get(w, i, j, k);
        }
      }
  float miss = (ex * um + ey * vm + ez * wm + et) / (900 + ex * ex + ey * ey + ez * ez);
  return um - ex * miss, vm - ey * miss, wm - ez * miss;
}
