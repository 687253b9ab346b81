# Dunes that wander in a river: depth h, flow (p, q) and the bed's height, which the water carries where it is fast enough; slopes limited by minmod,
# Rusanov's flux. Water enters at the left as the first cells say and leaves freely at the right; the banks are walls.
# Source: Hudson and Sweby, "Formulations for numerically approximating hyperbolic systems governing sediment transport" (2003), in the plane, with Grass's rate.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (h, p, q, bed)
Boundary x (fixed, clamp)
Boundary y clamp
EdgeValue q y { return -value; }
DefaultSize (4001, 2600)
InputRange h (1, 1.5)
InputRange p (0, 1)
InputRange q (-0.3, 0.3)
InputRange bed (0, 0.2)
const float g = 9.81;
const float r = 0.05;        # the time step over a cell's width
float minmod(float a, float b) { return a * b > 0 ? (fabs(a) < fabs(b) ? a : b) : 0; }
float lower(float w, float c, float e) { return c + 0.5 * minmod(c - w, e - c); }
float upper(float w, float c, float e) { return c - 0.5 * minmod(c - w, e - c); }
float load(float u, float v) {
  float s = u * u + v * v;
  return s > 0.04 ? 0.02 * u * (s - 0.04) : 0;
}
CellValue {
  float f[4][2], e[4][2];    # through the left and the right side; through the lower and the upper one
  for (int k = 0; k < 2; k++) {
    float hl = lower(get(h, k - 2, 0), get(h, k - 1, 0), get(h, k, 0)), hr = upper(get(h, k - 1, 0), get(h, k, 0), get(h, k + 1, 0));
    float pl = lower(get(p, k - 2, 0), get(p, k - 1, 0), get(p, k, 0)), pr = upper(get(p, k - 1, 0), get(p, k, 0), get(p, k + 1, 0));
    float ql = lower(get(q, k - 2, 0), get(q, k - 1, 0), get(q, k, 0)), qr = upper(get(q, k - 1, 0), get(q, k, 0), get(q, k + 1, 0));
    float zl = lower(get(bed, k - 2, 0), get(bed, k - 1, 0), get(bed, k, 0)), zr = upper(get(bed, k - 1, 0), get(bed, k, 0), get(bed, k + 1, 0));
    float ul = pl / hl, ur = pr / hr, vl = ql / hl, vr = qr / hr;
    float a = fmax(fabs(ul) + sqrt(g * hl), fabs(ur) + sqrt(g * hr));
    f[0][k] = 0.5 * (pl + pr - a * (hr + zr - hl - zl));
    f[1][k] = 0.5 * (pl * ul + pr * ur + 0.5 * g * (hl * hl + hr * hr) - a * (pr - pl));
    f[2][k] = 0.5 * (pl * vl + pr * vr - a * (qr - ql));
    f[3][k] = 0.5 * (load(ul, vl) + load(ur, vr) - fmax(fabs(ul), fabs(ur)) * (zr - zl));
  }
  for (int k = 0; k < 2; k++) {
    float hl = lower(get(h, 0, k - 2), get(h, 0, k - 1), get(h, 0, k)), hr = upper(get(h, 0, k - 1), get(h, 0, k), get(h, 0, k + 1));
    float pl = lower(get(p, 0, k - 2), get(p, 0, k - 1), get(p, 0, k)), pr = upper(get(p, 0, k - 1), get(p, 0, k), get(p, 0, k + 1));
    float ql = lower(get(q, 0, k - 2), get(q, 0, k - 1), get(q, 0, k)), qr = upper(get(q, 0, k - 1), get(q, 0, k), get(q, 0, k + 1));
    float zl = lower(get(bed, 0, k - 2), get(bed, 0, k - 1), get(bed, 0, k)), zr = upper(get(bed, 0, k - 1), get(bed, 0, k), get(bed, 0, k + 1));
    float ul = pl / hl, ur = pr / hr, vl = ql / hl, vr = qr / hr;
    float a = fmax(fabs(vl) + sqrt(g * hl), fabs(vr) + sqrt(g * hr));
    e[0][k] = 0.5 * (ql + qr - a * (hr + zr - hl - zl));
    e[1][k] = 0.5 * (ql * ul + qr * ur - a * (pr - pl));
    e[2][k] = 0.5 * (ql * vl + qr * vr + 0.5 * g * (hl * hl + hr * hr) - a * (qr - ql));
    e[3][k] = 0.5 * (load(vl, ul) + load(vr, ur) - fmax(fabs(vl), fabs(vr)) * (zr - zl));
  }
  float depth = get(h, 0, 0), press = 0.5 * g * depth;
  return depth - r * (f[0][1] - f[0][0] + e[0][1] - e[0][0]),
         get(p, 0, 0) - r * (f[1][1] - f[1][0] + e[1][1] - e[1][0] + press * (get(bed, 1, 0) - get(bed, -1, 0))),
         get(q, 0, 0) - r * (f[2][1] - f[2][0] + e[2][1] - e[2][0] + press * (get(bed, 0, 1) - get(bed, 0, -1))),
         get(bed, 0, 0) - r * (f[3][1] - f[3][0] + e[3][1] - e[3][0]);
}
