# Rain that seeps into layers of soil: how well it conducts falls exponentially with the pressure head, geometric means between cells.
# Source: Celia, Bouloutas and Zarba, "A general mass-conservative numerical solution for the unsaturated flow equation" (1990),
# the head's form, explicit in time, with Gardner's soil (1958).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (h, k)
ReadOnly (ks[z])
Temporary (k)
Boundary (wrap, mirror, clamp)
Boundary h z (clamp, constant -0.1)
Boundary k z (clamp, constant 0.9)
Stages (conduct, seep)
DefaultSize (320, 257, 321)
InputRange (-2, 0)
InputRange ks (0.2, 1)
CellValue conduct (k) { return exp(get(h, 0, 0, 0)); }
CellValue seep (h) {
  float c = get(h, 0, 0, 0), kc = get(k, 0, 0, 0), s = get(ks, 0), sb = get(ks, -1), st = get(ks, 1);
  float side = sqrt(kc * get(k, -1, 0, 0)) * (get(h, -1, 0, 0) - c) + sqrt(kc * get(k, 1, 0, 0)) * (get(h, 1, 0, 0) - c) +
               sqrt(kc * get(k, 0, -1, 0)) * (get(h, 0, -1, 0) - c) + sqrt(kc * get(k, 0, 1, 0)) * (get(h, 0, 1, 0) - c);
  float below = 2 * s * sb / (s + sb) * sqrt(kc * get(k, 0, 0, -1)) * (c - get(h, 0, 0, -1) + 1);
  float above = 2 * s * st / (s + st) * sqrt(kc * get(k, 0, 0, 1)) * (get(h, 0, 0, 1) - c + 1);
  return c + 0.05 * (s * side + above - below) / kc;
}
