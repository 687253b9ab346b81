# Water that runs over land: its depth h (m) and what flows between cells (m2/s) along x and y, faces at the cells' low sides; the ground is rough and some of it dry.
# Nothing leaves the map.
# Source: Bates, Horritt and Fewtrell, "A simple inertial formulation of the shallow water equations for efficient two-dimensional flood inundation modelling" (2010),
# equation 11; de Almeida, Bates, Freer and Souvignet (2012), equation 8, for the flow of neighbours.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (h, qx, qy)
ReadOnly (ground, rough, rain)
Boundary clamp
Stages (flow, depth)
DefaultSize (5500, 7001)
Steps 400
InputRange h (0, 1.5)
InputRange qx (-0.5, 0.5)
InputRange qy (-0.5, 0.5)
InputRange ground (3, 3.6)
InputRange rough (0.02, 0.1)
InputRange rain (0, 0.00001)
const float dx = 10;
const float dt = 1;
const float g = 9.81;
const float theta = 0.8;
float through(float q, float l, float r, float hl, float zl, float hr, float zr, float n) {
  float sl = hl + zl, sr = hr + zr;
  float flow = max(sl, sr) - max(zl, zr);
  if (flow < 0.001) return 0;
  float slope = (sr - sl) / dx;
  return (theta * q + 0.5 * (1 - theta) * (l + r) - g * flow * dt * slope) / (1 + g * dt * n * n * abs(q) / pow(flow, 7.0 / 3));
}
CellValue flow (qx, qy) {
  float here = get(h, 0, 0), zc = get(ground, 0, 0), n = get(rough, 0, 0);
  return x == 0 ? 0.0 : through(get(qx, 0, 0), get(qx, -1, 0), get(qx, 1, 0), get(h, -1, 0), get(ground, -1, 0), here, zc, n),
         y == 0 ? 0.0 : through(get(qy, 0, 0), get(qy, 0, -1), get(qy, 0, 1), get(h, 0, -1), get(ground, 0, -1), here, zc, n);
}
CellValue depth (h) {
  float east = x == input_size.x - 1 ? 0.0 : get(qx, 1, 0), north = y == input_size.y - 1 ? 0.0 : get(qy, 0, 1);
  return max(get(h, 0, 0) + dt / dx * (get(qx, 0, 0) - east + get(qy, 0, 0) - north) + dt * get(rain, 0, 0), 0);
}
