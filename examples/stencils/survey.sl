# A shot of a seismic survey: waves of fourth order in space, from sources of a wavelet each, recorded by receivers; m is the squared speed times the squared time step.
NumDimensions 2
StencilSize (2, 2)
Fields (u, old)
ReadOnly (m)
Boundary constant 0
InputRange m (0, 0.3)
const float c[3] = {-2.5, 4.0 / 3, -1.0 / 12};
CellValue {
  float lap = 2 * c[0] * get(u, 0, 0);
  for (int k = 1; k <= 2; k++)
    lap += c[k] * (get(u, -k, 0) + get(u, k, 0) + get(u, 0, -k) + get(u, 0, k));
  return 2 * get(u, 0, 0) - get(old, 0, 0) + get(m, 0, 0) * lap, get(u, 0, 0);
}
Sources shot (u) { return get(u, 0, 0) + get(m, 0, 0) * value; }
Receivers trace { return get(u, 0, 0); }
