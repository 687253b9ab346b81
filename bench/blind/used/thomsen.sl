# Waves in a volume of shale whose layers are tilted every way, as migration of seismic surveys computes them: two pressures, derivatives of order 8, mixed ones as derivatives of derivatives; the sides swallow waves.
# Source: Fletcher, Du and Fowler, "Reverse time migration in tilted transversely isotropic (TTI) media" (2009), equations 12 and 13 with the shear speed 0; mixed derivatives as in Devito's example tti.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
Fields (p, q, pold, qold, px, py, qx, qy)
Temporary (px, py, qx, qy)
ReadOnly (m, epsilon: float16, delta: float16, theta: float16, phi: float16, damp: float16)
Boundary constant 0
Stages (slopes, waves)
DefaultSize (401, 353, 301)
Steps 1500
InputRange m (0.02, 0.05)
InputRange epsilon (0.15, 0.25)
InputRange delta (0.05, 0.1)
InputRange theta (0.3, 0.5)
InputRange phi (-0.3, 0.3)
InputRange damp (0, 0.05)
InputRange shots (-1, 1)
const float one[5] = {0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
const float two[5] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
CellValue slopes (px, py, qx, qy) {
  float a = 0, b = 0, c = 0, d = 0;
  for (int k = 1; k <= 4; k++) {
    a += one[k] * (get(p, k, 0, 0) - get(p, -k, 0, 0));
    b += one[k] * (get(p, 0, k, 0) - get(p, 0, -k, 0));
    c += one[k] * (get(q, k, 0, 0) - get(q, -k, 0, 0));
    d += one[k] * (get(q, 0, k, 0) - get(q, 0, -k, 0));
  }
  return a, b, c, d;
}
CellValue waves (p, q, pold, qold) {
  float u = get(p, 0, 0, 0), v = get(q, 0, 0, 0);
  float pxx = two[0] * u, pyy = two[0] * u, pzz = two[0] * u, qxx = two[0] * v, qyy = two[0] * v, qzz = two[0] * v;
  float pxy = 0, pxz = 0, pyz = 0, qxy = 0, qxz = 0, qyz = 0;
  for (int k = 1; k <= 4; k++) {
    pxx += two[k] * (get(p, k, 0, 0) + get(p, -k, 0, 0));
    pyy += two[k] * (get(p, 0, k, 0) + get(p, 0, -k, 0));
    pzz += two[k] * (get(p, 0, 0, k) + get(p, 0, 0, -k));
    qxx += two[k] * (get(q, k, 0, 0) + get(q, -k, 0, 0));
    qyy += two[k] * (get(q, 0, k, 0) + get(q, 0, -k, 0));
    qzz += two[k] * (get(q, 0, 0, k) + get(q, 0, 0, -k));
    pxy += one[k] * (get(px, 0, k, 0) - get(px, 0, -k, 0));
    pxz += one[k] * (get(px, 0, 0, k) - get(px, 0, 0, -k));
    pyz += one[k] * (get(py, 0, 0, k) - get(py, 0, 0, -k));
    qxy += one[k] * (get(qx, 0, k, 0) - get(qx, 0, -k, 0));
    qxz += one[k] * (get(qx, 0, 0, k) - get(qx, 0, 0, -k));
    qyz += one[k] * (get(qy, 0, 0, k) - get(qy, 0, 0, -k));
  }
  float st = sin(get(theta, 0, 0, 0)), ct = cos(get(theta, 0, 0, 0)), sp = sin(get(phi, 0, 0, 0)), cp = cos(get(phi, 0, 0, 0));
  float nx = st * cp, ny = st * sp;
  float pa = nx * nx * pxx + ny * ny * pyy + ct * ct * pzz + 2 * (nx * ny * pxy + nx * ct * pxz + ny * ct * pyz);
  float qa = nx * nx * qxx + ny * ny * qyy + ct * ct * qzz + 2 * (nx * ny * qxy + nx * ct * qxz + ny * ct * qyz);
  float pl = pxx + pyy + pzz - pa, e = 1 + 2 * get(epsilon, 0, 0, 0), s = sqrt(1 + 2 * get(delta, 0, 0, 0));
  float d = get(damp, 0, 0, 0), w = get(m, 0, 0, 0);
  return (2 * u - (1 - d) * get(pold, 0, 0, 0) + w * (e * pl + s * qa)) / (1 + d),
         (2 * v - (1 - d) * get(qold, 0, 0, 0) + w * (s * pl + qa)) / (1 + d), u, v;
}
Sources shots (p) { return get(p, 0, 0, 0) + get(m, 0, 0, 0) * value; }
Receivers traces { return get(p, 0, 0, 0); }
