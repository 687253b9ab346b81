# A magnetic strip on a heavy metal: exchange, grains that would rather stand up, a field along z, and the interface's twist; Heun's method, lengths kept.
# Source: Garcia-Palacios and Lazaro, "Langevin-dynamics study of the dynamical properties of small magnetic particles" (1998), without noise, for
# the Landau-Lifshitz equation and its steps; Rohart and Thiaville, "Skyrmion confinement in ultrathin film nanostructures" (2013) for the twist.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (mx, my, mz, px, py, pz)
ReadOnly (grain)
Temporary (px, py, pz)
Boundary (wrap, clamp, clamp)
Stages (predict, correct)
DefaultSize (720, 450, 31)
InputRange mx (-0.6, 0.6)
InputRange my (-0.6, 0.6)
InputRange mz (0.4, 1)
InputRange grain (0.2, 0.4)
const float dt = 0.04;
const float alpha = 0.3;     # how fast it settles
const float twist = 0.25;
float along(float w, float l, float s, float n, float b, float t, float c) { return w + l + s + n + b + t - 6 * c; }
# what turns the component a of (a, b, c) in the field (p, q, r)
float torque(float a, float b, float c, float p, float q, float r) {
  return -(b * r - c * q) - alpha * (a * (b * q + c * r) - p * (b * b + c * c));
}
CellValue predict (px, py, pz) {
  float a = get(mx, 0, 0, 0), b = get(my, 0, 0, 0), c = get(mz, 0, 0, 0);
  float hx = along(get(mx, -1, 0, 0), get(mx, 1, 0, 0), get(mx, 0, -1, 0), get(mx, 0, 1, 0), get(mx, 0, 0, -1), get(mx, 0, 0, 1), a) +
             twist * (get(mz, 1, 0, 0) - get(mz, -1, 0, 0));
  float hy = along(get(my, -1, 0, 0), get(my, 1, 0, 0), get(my, 0, -1, 0), get(my, 0, 1, 0), get(my, 0, 0, -1), get(my, 0, 0, 1), b) +
             twist * (get(mz, 0, 1, 0) - get(mz, 0, -1, 0));
  float hz = along(get(mz, -1, 0, 0), get(mz, 1, 0, 0), get(mz, 0, -1, 0), get(mz, 0, 1, 0), get(mz, 0, 0, -1), get(mz, 0, 0, 1), c) -
             twist * (get(mx, 1, 0, 0) - get(mx, -1, 0, 0) + get(my, 0, 1, 0) - get(my, 0, -1, 0)) + get(grain, 0, 0, 0) * c - 0.05;
  return a + dt * torque(a, b, c, hx, hy, hz), b + dt * torque(b, c, a, hy, hz, hx), c + dt * torque(c, a, b, hz, hx, hy);
}
CellValue correct (mx, my, mz) {
  float a = get(px, 0, 0, 0), b = get(py, 0, 0, 0), c = get(pz, 0, 0, 0);
  float hx = along(get(px, -1, 0, 0), get(px, 1, 0, 0), get(px, 0, -1, 0), get(px, 0, 1, 0), get(px, 0, 0, -1), get(px, 0, 0, 1), a) +
             twist * (get(pz, 1, 0, 0) - get(pz, -1, 0, 0));
  float hy = along(get(py, -1, 0, 0), get(py, 1, 0, 0), get(py, 0, -1, 0), get(py, 0, 1, 0), get(py, 0, 0, -1), get(py, 0, 0, 1), b) +
             twist * (get(pz, 0, 1, 0) - get(pz, 0, -1, 0));
  float hz = along(get(pz, -1, 0, 0), get(pz, 1, 0, 0), get(pz, 0, -1, 0), get(pz, 0, 1, 0), get(pz, 0, 0, -1), get(pz, 0, 0, 1), c) -
             twist * (get(px, 1, 0, 0) - get(px, -1, 0, 0) + get(py, 0, 1, 0) - get(py, 0, -1, 0)) + get(grain, 0, 0, 0) * c - 0.05;
  float x1 = get(mx, 0, 0, 0) + a + dt * torque(a, b, c, hx, hy, hz);
  float y1 = get(my, 0, 0, 0) + b + dt * torque(b, c, a, hy, hz, hx);
  float z1 = get(mz, 0, 0, 0) + c + dt * torque(c, a, b, hz, hx, hy);
  float s = rsqrt(x1 * x1 + y1 * y1 + z1 * z1);
  return s * x1, s * y1, s * z1;
}
