# Hares and lynxes that wander: Lotka and Volterra's equations with diffusion, by Heun's method.
# Source: Murray, "Mathematical Biology" (1989), chapter 3; Heun (1900).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (h, l, hp, lp)
Temporary (hp, lp)
Boundary mirror
Stages (predict, correct)
DefaultSize (4800, 4800)
InputRange (0.2, 1.5)
const float dt = 0.1;
CellValue predict (hp, lp) {
  float a = get(h, 0, 0), b = get(l, 0, 0);
  float la = get(h, -1, 0) + get(h, 1, 0) + get(h, 0, -1) + get(h, 0, 1) - 4 * a;
  float lb = get(l, -1, 0) + get(l, 1, 0) + get(l, 0, -1) + get(l, 0, 1) - 4 * b;
  return a + dt * (0.5 * la + a * (1 - b)), b + dt * (lb + 0.7 * b * (a - 1));
}
CellValue correct (h, l) {
  float a = get(hp, 0, 0), b = get(lp, 0, 0);
  float la = get(hp, -1, 0) + get(hp, 1, 0) + get(hp, 0, -1) + get(hp, 0, 1) - 4 * a;
  float lb = get(lp, -1, 0) + get(lp, 1, 0) + get(lp, 0, -1) + get(lp, 0, 1) - 4 * b;
  return 0.5 * (get(h, 0, 0) + a + dt * (0.5 * la + a * (1 - b))), 0.5 * (get(l, 0, 0) + b + dt * (lb + 0.7 * b * (a - 1)));
}
