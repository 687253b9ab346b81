# A snow crystal that grows in thin air: vapour d, a layer b between vapour and ice and ice c in cells of a hexagonal lattice, and which cells are attached to
# the crystal (a). Vapour spreads, freezes at the crystal's edge, cells are attached by how many around them are, and a little melts.
# Source: Gravner and Griffeath, "Modeling snow crystal growth II: a mesoscopic lattice map with plausible dynamics" (2008), section 2, steps i to iv, without noise.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (d, b, c, a: uint8)
Stages (vapour, attachment, melting)
Boundary constant 0
Boundary d constant 0.58
DefaultSize (801, 801)
Steps 10000
InputRange d (0.1, 0.5)
InputRange b (0, 0.5)
InputRange c (0, 1)
InputRange a {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
const float beta = 1.3;
const float alpha = 0.4;
const float theta = 0.025;
const float kappa = 0.005;
const float mu = 0.015;
const float gamma = 0.0005;
int attached() {
  return get(a, 1, 0) + get(a, -1, 0) + get(a, 0, 1) + get(a, 0, -1) + get(a, 1, 1) + get(a, -1, -1);
}
# The crystal throws vapour back.
float from(int i, int j) { return get(a, i, j) > 0 ? get(d, 0, 0) : get(d, i, j); }
CellValue vapour (d, b, c) {
  if (get(a, 0, 0) > 0) return 0, get(b, 0, 0), get(c, 0, 0);
  float spread = (get(d, 0, 0) + from(1, 0) + from(-1, 0) + from(0, 1) + from(0, -1) + from(1, 1) + from(-1, -1)) / 7;
  if (attached() == 0) return spread, get(b, 0, 0), get(c, 0, 0);
  return 0, get(b, 0, 0) + (1 - kappa) * spread, get(c, 0, 0) + kappa * spread;
}
CellValue attachment (b, c, a) {
  int n = attached();
  float layer = get(b, 0, 0);
  bool now = n > 3;
  if (n == 1 || n == 2) now = layer >= beta;
  if (n == 3) {
    float near = get(d, 0, 0) + get(d, 1, 0) + get(d, -1, 0) + get(d, 0, 1) + get(d, 0, -1) + get(d, 1, 1) + get(d, -1, -1);
    now = layer >= 1 || near < theta && layer >= alpha;
  }
  if (get(a, 0, 0) > 0 || !now) return layer, get(c, 0, 0), get(a, 0, 0);
  return 0, get(c, 0, 0) + layer, 1;
}
CellValue melting (d, b, c) {
  float vapours = get(d, 0, 0), layer = get(b, 0, 0), ice = get(c, 0, 0);
  if (get(a, 0, 0) > 0 || attached() == 0) return vapours, layer, ice;
  return vapours + mu * layer + gamma * ice, (1 - mu) * layer, (1 - gamma) * ice;
}
