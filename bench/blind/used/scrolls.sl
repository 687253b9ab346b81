# Scroll waves of a medium of oscillators in a tall cell of glass: real and imaginary part (a, b) of their amplitude, which diffuses and turns. Nothing flows through the walls
# along x and y; along z it repeats. A step of Runge and Kutta's classical method has four stages; (ya, yb) is what a stage looks at, (sa, sb) the sum so far.
# Source: Aranson and Kramer, "The world of the complex Ginzburg-Landau equation" (2002), equation 1; Aranson and Bishop, "Instability and stretching of vortex lines in the
# three-dimensional complex Ginzburg-Landau equation" (1997); Kutta, "Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen" (1901).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (a, b, ya, yb, za, zb, sa, sb)
Temporary (ya, yb, za, zb, sa, sb)
ScalarVariables (float linear = -0.5, cubic = 1)    # dispersion
Boundary (mirror, mirror, wrap)
Stages (first, second, third, fourth)
DefaultSize (321, 321, 400)
Steps 2000
InputRange (-0.8, 0.8)
const float dt = 0.05;
const float diffuses = 2;      # over the squared mesh width
float around(float w, float e, float s, float n, float d, float u, float c) { return diffuses * (w + e + s + n + d + u - 6 * c); }
float real(float p, float q, float lp, float lq) { return p + lp - linear * lq - (p * p + q * q) * (p - cubic * q); }
float imaginary(float p, float q, float lp, float lq) { return q + lq + linear * lp - (p * p + q * q) * (q + cubic * p); }
CellValue first (ya, yb, sa, sb) {
  float lp = around(get(a, -1, 0, 0), get(a, 1, 0, 0), get(a, 0, -1, 0), get(a, 0, 1, 0), get(a, 0, 0, -1), get(a, 0, 0, 1), get(a, 0, 0, 0));
  float lq = around(get(b, -1, 0, 0), get(b, 1, 0, 0), get(b, 0, -1, 0), get(b, 0, 1, 0), get(b, 0, 0, -1), get(b, 0, 0, 1), get(b, 0, 0, 0));
  float ka = real(get(a, 0, 0, 0), get(b, 0, 0, 0), lp, lq), kb = imaginary(get(a, 0, 0, 0), get(b, 0, 0, 0), lp, lq);
  return get(a, 0, 0, 0) + 0.5 * dt * ka, get(b, 0, 0, 0) + 0.5 * dt * kb, get(a, 0, 0, 0) + dt / 6 * ka, get(b, 0, 0, 0) + dt / 6 * kb;
}
CellValue second (za, zb, sa, sb) {
  float lp = around(get(ya, -1, 0, 0), get(ya, 1, 0, 0), get(ya, 0, -1, 0), get(ya, 0, 1, 0), get(ya, 0, 0, -1), get(ya, 0, 0, 1), get(ya, 0, 0, 0));
  float lq = around(get(yb, -1, 0, 0), get(yb, 1, 0, 0), get(yb, 0, -1, 0), get(yb, 0, 1, 0), get(yb, 0, 0, -1), get(yb, 0, 0, 1), get(yb, 0, 0, 0));
  float ka = real(get(ya, 0, 0, 0), get(yb, 0, 0, 0), lp, lq), kb = imaginary(get(ya, 0, 0, 0), get(yb, 0, 0, 0), lp, lq);
  return get(a, 0, 0, 0) + 0.5 * dt * ka, get(b, 0, 0, 0) + 0.5 * dt * kb, get(sa, 0, 0, 0) + dt / 3 * ka, get(sb, 0, 0, 0) + dt / 3 * kb;
}
CellValue third (ya, yb, sa, sb) {
  float lp = around(get(za, -1, 0, 0), get(za, 1, 0, 0), get(za, 0, -1, 0), get(za, 0, 1, 0), get(za, 0, 0, -1), get(za, 0, 0, 1), get(za, 0, 0, 0));
  float lq = around(get(zb, -1, 0, 0), get(zb, 1, 0, 0), get(zb, 0, -1, 0), get(zb, 0, 1, 0), get(zb, 0, 0, -1), get(zb, 0, 0, 1), get(zb, 0, 0, 0));
  float ka = real(get(za, 0, 0, 0), get(zb, 0, 0, 0), lp, lq), kb = imaginary(get(za, 0, 0, 0), get(zb, 0, 0, 0), lp, lq);
  return get(a, 0, 0, 0) + dt * ka, get(b, 0, 0, 0) + dt * kb, get(sa, 0, 0, 0) + dt / 3 * ka, get(sb, 0, 0, 0) + dt / 3 * kb;
}
CellValue fourth (a, b) {
  float lp = around(get(ya, -1, 0, 0), get(ya, 1, 0, 0), get(ya, 0, -1, 0), get(ya, 0, 1, 0), get(ya, 0, 0, -1), get(ya, 0, 0, 1), get(ya, 0, 0, 0));
  float lq = around(get(yb, -1, 0, 0), get(yb, 1, 0, 0), get(yb, 0, -1, 0), get(yb, 0, 1, 0), get(yb, 0, 0, -1), get(yb, 0, 0, 1), get(yb, 0, 0, 0));
  float ka = real(get(ya, 0, 0, 0), get(yb, 0, 0, 0), lp, lq), kb = imaginary(get(ya, 0, 0, 0), get(yb, 0, 0, 0), lp, lq);
  return get(sa, 0, 0, 0) + dt / 6 * ka, get(sb, 0, 0, 0) + dt / 6 * kb;
}
