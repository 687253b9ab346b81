# Smoke in a uniform wind that diffuses: fourth-order central differences, three stages in time.
# Source: Shu and Osher, "Efficient implementation of essentially non-oscillatory shock-capturing schemes" (1988), equation 2.18.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (c, a, b)
Temporary (a, b)
Boundary wrap
Stages (one, two, three)
DefaultSize (320, 320, 320)
float slope(float w, float l, float r, float e) { return (w - 8 * l + 8 * r - e) / 12; }
float bend(float w, float l, float m, float r, float e) { return (16 * (l + r) - w - e - 30 * m) / 12; }
float axis(float w, float l, float m, float r, float e, float speed) { return 0.1 * bend(w, l, m, r, e) - speed * slope(w, l, r, e); }
float rate0() {
  return axis(get(c, -2, 0, 0), get(c, -1, 0, 0), get(c, 0, 0, 0), get(c, 1, 0, 0), get(c, 2, 0, 0), 0.3) +
         axis(get(c, 0, -2, 0), get(c, 0, -1, 0), get(c, 0, 0, 0), get(c, 0, 1, 0), get(c, 0, 2, 0), 0.22) +
         axis(get(c, 0, 0, -2), get(c, 0, 0, -1), get(c, 0, 0, 0), get(c, 0, 0, 1), get(c, 0, 0, 2), 0.14);
}
float rate1() {
  return axis(get(a, -2, 0, 0), get(a, -1, 0, 0), get(a, 0, 0, 0), get(a, 1, 0, 0), get(a, 2, 0, 0), 0.3) +
         axis(get(a, 0, -2, 0), get(a, 0, -1, 0), get(a, 0, 0, 0), get(a, 0, 1, 0), get(a, 0, 2, 0), 0.22) +
         axis(get(a, 0, 0, -2), get(a, 0, 0, -1), get(a, 0, 0, 0), get(a, 0, 0, 1), get(a, 0, 0, 2), 0.14);
}
float rate2() {
  return axis(get(b, -2, 0, 0), get(b, -1, 0, 0), get(b, 0, 0, 0), get(b, 1, 0, 0), get(b, 2, 0, 0), 0.3) +
         axis(get(b, 0, -2, 0), get(b, 0, -1, 0), get(b, 0, 0, 0), get(b, 0, 1, 0), get(b, 0, 2, 0), 0.22) +
         axis(get(b, 0, 0, -2), get(b, 0, 0, -1), get(b, 0, 0, 0), get(b, 0, 0, 1), get(b, 0, 0, 2), 0.14);
}
CellValue one (a) { return get(c, 0, 0, 0) + rate0(); }
CellValue two (b) { return 0.75 * get(c, 0, 0, 0) + 0.25 * (get(a, 0, 0, 0) + rate1()); }
CellValue three (c) { return (get(c, 0, 0, 0) + 2 * (get(b, 0, 0, 0) + rate2())) / 3; }
