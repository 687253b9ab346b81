# A crystal that grows into its undercooled melt, faster along the axes: a phase from -1 (liquid) to 1 (solid), and the temperature u.
# Source: Karma and Rappel, "Quantitative phase-field modeling of dendritic growth in two and three dimensions" (1998), equations 11 to 14.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (phase, u, fx, fy, fz)
Temporary (fx, fy, fz)
Boundary clamp
Boundary fx x constant 0
Boundary fy y constant 0
Boundary fz z constant 0
Stages (flux, grow)
DefaultSize (288, 250, 271)
InputRange phase (-1, 1)
InputRange u (-0.6, 0)
const float e = 0.05;        # how much the axes count
const float dt = 0.05;
float flow(float p, float q, float r) {
  float m = p * p + q * q + r * r + 0.0001, sum = p * p * p * p + q * q * q * q + r * r * r * r;
  float a = 1 - 3 * e + 4 * e * sum / (m * m);
  return a * p * (a + 16 * e * (p * p * m - sum) / (m * m));
}
CellValue flux (fx, fy, fz) {
  float c = get(phase, 0, 0, 0);
  float wo = get(phase, 1, 0, 0) - get(phase, -1, 0, 0), sn = get(phase, 0, 1, 0) - get(phase, 0, -1, 0), bt = get(phase, 0, 0, 1) - get(phase, 0, 0, -1);
  return flow(get(phase, 1, 0, 0) - c, 0.25 * (sn + get(phase, 1, 1, 0) - get(phase, 1, -1, 0)), 0.25 * (bt + get(phase, 1, 0, 1) - get(phase, 1, 0, -1))),
         flow(get(phase, 0, 1, 0) - c, 0.25 * (wo + get(phase, 1, 1, 0) - get(phase, -1, 1, 0)), 0.25 * (bt + get(phase, 0, 1, 1) - get(phase, 0, 1, -1))),
         flow(get(phase, 0, 0, 1) - c, 0.25 * (wo + get(phase, 1, 0, 1) - get(phase, -1, 0, 1)), 0.25 * (sn + get(phase, 0, 1, 1) - get(phase, 0, -1, 1)));
}
CellValue grow (phase, u) {
  float c = get(phase, 0, 0, 0), t = get(u, 0, 0, 0);
  float p = get(phase, 1, 0, 0) - get(phase, -1, 0, 0), q = get(phase, 0, 1, 0) - get(phase, 0, -1, 0), r = get(phase, 0, 0, 1) - get(phase, 0, 0, -1);
  float m = p * p + q * q + r * r + 0.0001, sum = p * p * p * p + q * q * q * q + r * r * r * r;
  float a = 1 - 3 * e + 4 * e * sum / (m * m);
  float div = get(fx, 0, 0, 0) - get(fx, -1, 0, 0) + get(fy, 0, 0, 0) - get(fy, 0, -1, 0) + get(fz, 0, 0, 0) - get(fz, 0, 0, -1);
  float rise = dt * ((c - 3 * t * (1 - c * c)) * (1 - c * c) + div) / (a * a);
  float lap = get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1) - 6 * t;
  return c + rise, t + 2 * dt * lap + 0.5 * rise;
}
