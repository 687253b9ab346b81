# Electrons of a beam on their way through a travelling-wave tube: how many are at a place (x) with a speed (y); all of them go to the right. They enter
# with the gun's temperature, leave freely, and a field that is given by place, and swings, pushes them.
# Source: Filbet, Sonnendruecker and Bertrand, "Conservative numerical schemes for the Vlasov equation" (2001), section 3: positive and
# flux conservative, third order, with slope correctors; drift and push in turn after Cheng and Knorr (1976).
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (f)
ReadOnly (e[x])
Boundary (clamp, constant 0)
EdgeValue f x low {
  float v = (y - 0.5 * input_size.y) / (0.1 * input_size.y);
  return exp(-0.5 * v * v);
}
Stages (drift, push)
DefaultSize (4096, 1501)
InputRange f (0, 1)
InputRange e (-0.8, 0.8)
const float most = 1;            # no more electrons than this are anywhere
float forward(float here, float d) {
  if (d > 0) return min(1, 2 * here / d);
  if (d < 0) return min(1, -2 * (most - here) / d);
  return 1;
}
float backward(float here, float d) {
  if (d > 0) return min(1, 2 * (most - here) / d);
  if (d < 0) return min(1, -2 * here / d);
  return 1;
}
# What leaves a cell ahead in a step that goes c cells, c from 0 to 1.
float flux(float c, float behind, float here, float ahead) {
  float d = ahead - here, b = here - behind;
  return c * (here + forward(here, d) / 6 * (1 - c) * (2 - c) * d + backward(here, b) / 6 * (1 - c) * (1 + c) * b);
}
CellValue drift {
  float c = 0.1 + 0.8 * y / input_size.y;
  return get(f, 0, 0) - flux(c, get(f, -1, 0), get(f, 0, 0), get(f, 1, 0)) + flux(c, get(f, -2, 0), get(f, -1, 0), get(f, 0, 0));
}
CellValue push {
  float c = get(e, 0) * cos(0.05 * iteration);
  if (c > 0) return get(f, 0, 0) - flux(c, get(f, 0, -1), get(f, 0, 0), get(f, 0, 1)) + flux(c, get(f, 0, -2), get(f, 0, -1), get(f, 0, 0));
  return get(f, 0, 0) - flux(-c, get(f, 0, 1), get(f, 0, 0), get(f, 0, -1)) + flux(-c, get(f, 0, 2), get(f, 0, 1), get(f, 0, 0));
}
