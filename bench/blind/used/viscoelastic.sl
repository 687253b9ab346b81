# Waves in rock that absorbs them: velocities, stresses and what each stress remembers, staggered, fourth order in space.
# Source: Robertsson, Blanch and Symes, "Viscoelastic finite-difference modeling" (1994), one mechanism, no free surface.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (vx, vz, sxx, szz, sxz, rxx, rzz, rxz)
ReadOnly (b, pi, mu)
Boundary (wrap, constant 0)
Stages (motion, stress)
DefaultSize (3200, 1601)
InputRange b (0.5, 1)
InputRange pi (0.1, 0.25)
InputRange mu (0.02, 0.08)
const float h = 0.02;
float diff(float w, float l, float r, float e) { return 1.125 * (r - l) - (e - w) / 24; }
float memory(float r, float strain) { return ((1 - h) * r - 0.2 * h * strain) / (1 + h); }
CellValue motion (vx, vz) {
  float xx = diff(get(sxx, -1, 0), get(sxx, 0, 0), get(sxx, 1, 0), get(sxx, 2, 0)), xz = diff(get(sxz, 0, -2), get(sxz, 0, -1), get(sxz, 0, 0), get(sxz, 0, 1));
  float zx = diff(get(sxz, -2, 0), get(sxz, -1, 0), get(sxz, 0, 0), get(sxz, 1, 0)), zz = diff(get(szz, 0, -1), get(szz, 0, 0), get(szz, 0, 1), get(szz, 0, 2));
  return get(vx, 0, 0) + get(b, 0, 0) * (xx + xz), get(vz, 0, 0) + get(b, 0, 0) * (zx + zz);
}
CellValue stress (sxx, szz, sxz, rxx, rzz, rxz) {
  float xx = diff(get(vx, -2, 0), get(vx, -1, 0), get(vx, 0, 0), get(vx, 1, 0)), zz = diff(get(vz, 0, -2), get(vz, 0, -1), get(vz, 0, 0), get(vz, 0, 1));
  float xz = diff(get(vx, 0, -1), get(vx, 0, 0), get(vx, 0, 1), get(vx, 0, 2)) + diff(get(vz, -1, 0), get(vz, 0, 0), get(vz, 1, 0), get(vz, 2, 0));
  float m = get(mu, 0, 0), all = get(pi, 0, 0) * (xx + zz);
  float ex = all - 2 * m * zz, ez = all - 2 * m * xx, s = m * xz;
  float nx = memory(get(rxx, 0, 0), ex), nz = memory(get(rzz, 0, 0), ez), ns = memory(get(rxz, 0, 0), s);
  return get(sxx, 0, 0) + 1.1 * ex + 0.5 * (get(rxx, 0, 0) + nx), get(szz, 0, 0) + 1.1 * ez + 0.5 * (get(rzz, 0, 0) + nz),
         get(sxz, 0, 0) + 1.1 * s + 0.5 * (get(rxz, 0, 0) + ns), nx, nz, ns;
}
