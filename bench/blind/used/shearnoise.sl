# Noise in a wind whose speed varies with height: differences of seven points that keep waves' speeds, and damping of short waves alone.
# Source: Tam and Webb, "Dispersion-relation-preserving finite difference schemes for computational acoustics" (1993), forward-backward in time;
# the damping of Tam, Webb and Dong (1993).
NumDimensions 2
StencilSize (3, 3)
DataType double
Fields (p, u, v)
ReadOnly (wind[y])
Boundary (wrap, mirror)
EdgeValue v y { return -value; }
Stages (sound, motion)
DefaultSize (2500, 3001)
InputRange wind (0.1, 0.12)
const double a[4] = {0, 0.79926643, -0.18941314, 0.02651995};
const double d[4] = {0.327698660845, -0.235718815308, 0.086150669577, -0.014281184692};
const double dt = 0.3;
CellValue sound (p) {
  double px = 0, div = 0, damp = 2 * d[0] * get(p, 0, 0);
  for (int k = 1; k <= 3; k++) {
    px += a[k] * (get(p, k, 0) - get(p, -k, 0));
    div += a[k] * (get(u, k, 0) - get(u, -k, 0) + get(v, 0, k) - get(v, 0, -k));
    damp += d[k] * (get(p, k, 0) + get(p, -k, 0) + get(p, 0, k) + get(p, 0, -k));
  }
  return get(p, 0, 0) - dt * (get(wind, 0) * px + div) - 0.1 * damp;
}
CellValue motion (u, v) {
  double px = 0, py = 0, ux = 0, vx = 0, du = 2 * d[0] * get(u, 0, 0), dv = 2 * d[0] * get(v, 0, 0);
  for (int k = 1; k <= 3; k++) {
    px += a[k] * (get(p, k, 0) - get(p, -k, 0));
    py += a[k] * (get(p, 0, k) - get(p, 0, -k));
    ux += a[k] * (get(u, k, 0) - get(u, -k, 0));
    vx += a[k] * (get(v, k, 0) - get(v, -k, 0));
    du += d[k] * (get(u, k, 0) + get(u, -k, 0) + get(u, 0, k) + get(u, 0, -k));
    dv += d[k] * (get(v, k, 0) + get(v, -k, 0) + get(v, 0, k) + get(v, 0, -k));
  }
  double shear = 0.5 * (get(wind, 1) - get(wind, -1));
  return get(u, 0, 0) - dt * (get(wind, 0) * ux + shear * get(v, 0, 0) + px) - 0.1 * du,
         get(v, 0, 0) - dt * (get(wind, 0) * vx + py) - 0.1 * dv;
}
