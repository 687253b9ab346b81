# Waves in a section of rock whose layers are tilted, and which are faster along them than across: two pressures, fourth order in space.
# Source: Zhou, Zhang and Bloor, "An anisotropic acoustic wave equation for modeling and migration in 2D TTI media" (2006).
# m is the squared speed times the squared time step, a and d are Thomsen's parameters (epsilon and delta), si and co the tilt's sine and cosine.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (p, q, pold, qold)
ReadOnly (m, a, d, si, co)
Boundary constant 0
DefaultSize (4501, 2003)
InputRange m (0.05, 0.1)
InputRange a (0.15, 0.2)
InputRange d (0.05, 0.1)
InputRange si (0.4, 0.5)
InputRange co (0.86, 0.92)
const float one[5] = {1.0 / 12, -2.0 / 3, 0, 2.0 / 3, -1.0 / 12};
const float two[5] = {-1.0 / 12, 4.0 / 3, -2.5, 4.0 / 3, -1.0 / 12};
CellValue {
  float pxx = 0, pyy = 0, pxy = 0, qxx = 0, qyy = 0, qxy = 0;
  for (int j = -2; j <= 2; j++) {
    pxx += two[j + 2] * get(p, j, 0);
    pyy += two[j + 2] * get(p, 0, j);
    qxx += two[j + 2] * get(q, j, 0);
    qyy += two[j + 2] * get(q, 0, j);
    for (int i = -2; i <= 2; i++)
      if (i != 0 && j != 0) {
        pxy += one[i + 2] * one[j + 2] * get(p, i, j);
        qxy += one[i + 2] * one[j + 2] * get(q, i, j);
      }
  }
  float s = get(si, 0, 0), c = get(co, 0, 0), v = get(m, 0, 0);
  float axis = s * s * pxx + c * c * pyy + 2 * s * c * pxy;
  float layers = pxx + qxx + pyy + qyy - axis - s * s * qxx - c * c * qyy - 2 * s * c * qxy;
  return 2 * get(p, 0, 0) - get(pold, 0, 0) + v * ((1 + 2 * get(d, 0, 0)) * layers + axis),
         2 * get(q, 0, 0) - get(qold, 0, 0) + 2 * v * (get(a, 0, 0) - get(d, 0, 0)) * layers, get(p, 0, 0), get(q, 0, 0);
}
