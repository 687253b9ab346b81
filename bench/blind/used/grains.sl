# Grains of a metal that grow at each other's cost: five orientations, each with an order parameter, in a volume that repeats.
# Source: Chen and Yang, "Computer simulation of the domain dynamics of a quenched system with a large number of nonconserved order parameters: the grain-growth
# kinetics" (1994), equations 3 and 5, five parameters; Moelans, Blanpain and Wollants (2008) for gamma 1.5. Laplacians with the neighbours across edges.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (a, b, c, d, e)
Boundary wrap
DefaultSize (320, 320, 320)
Steps 3000
InputRange (0, 1)
const float gamma = 1.5;
const float kappa = 0.5;
const float dt = 0.05;
float next(float u, float squares, float faces, float edges) {
  float lap = (2 * faces + edges - 24 * u) / 6;
  return u - dt * (-u + u * u * u + 2 * gamma * u * (squares - u * u) - kappa * lap);
}
CellValue {
  float s = get(a, 0, 0, 0) * get(a, 0, 0, 0) + get(b, 0, 0, 0) * get(b, 0, 0, 0) + get(c, 0, 0, 0) * get(c, 0, 0, 0);
  s += get(d, 0, 0, 0) * get(d, 0, 0, 0) + get(e, 0, 0, 0) * get(e, 0, 0, 0);
  float fa = 0, fb = 0, fc = 0, fd = 0, fe = 0, ea = 0, eb = 0, ec = 0, ed = 0, ee = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        if (abs(i) + abs(j) + abs(k) == 1) {
          fa += get(a, i, j, k);
          fb += get(b, i, j, k);
          fc += get(c, i, j, k);
          fd += get(d, i, j, k);
          fe += get(e, i, j, k);
        }
        if (abs(i) + abs(j) + abs(k) == 2) {
          ea += get(a, i, j, k);
          eb += get(b, i, j, k);
          ec += get(c, i, j, k);
          ed += get(d, i, j, k);
          ee += get(e, i, j, k);
        }
      }
  return next(get(a, 0, 0, 0), s, fa, ea), next(get(b, 0, 0, 0), s, fb, eb), next(get(c, 0, 0, 0), s, fc, ec), next(get(d, 0, 0, 0), s, fd, ed), next(get(e, 0, 0, 0), s, fe, ee);
}
