# The head of water in an aquifer of varying conductivity: red-black overrelaxation.
# Source: Trescott, Pinder and Larson, "Finite-difference model for aquifer simulation" (1976); Young (1954) for the ordering.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (h)
ReadOnly (k, q)
Boundary (fixed, clamp)
Stages (red, black)
Color red (x + y) % 2 == 0
Color black (x + y) % 2 == 1
DefaultSize (4001, 5001)
InputRange k (0.5, 2)
double relaxed() {
  double e = get(k, 0, 0) + get(k, 1, 0), w = get(k, 0, 0) + get(k, -1, 0);
  double n = get(k, 0, 0) + get(k, 0, 1), s = get(k, 0, 0) + get(k, 0, -1);
  double flow = e * get(h, 1, 0) + w * get(h, -1, 0) + n * get(h, 0, 1) + s * get(h, 0, -1) + get(q, 0, 0);
  return -0.5 * get(h, 0, 0) + 1.5 * flow / (e + w + n + s);
}
CellValue red { return relaxed(); }
CellValue black { return relaxed(); }
