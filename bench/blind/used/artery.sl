# The pulse in an artery that narrows: its cross section a (cm2) and the flow q (cm3/s), by the two steps of Lax and Wendroff after Richtmyer. The heart beats at the near end; what stiffness and rest section a place has is given.
# Source: Formaggia, Lamponi and Quarteroni, "One-dimensional models for blood flow in arteries" (2003), equations 1 to 10; Olufsen et al., "Numerical simulation and experimental validation of blood flow in arteries with structured-tree outflow conditions" (2000), the scheme.
NumDimensions 1
StencilSize (1)
DataType float
Fields (a, q, ah, qh)
Temporary (ah, qh)
ReadOnly (rest, beta)
ScalarVariables (float k = 0.001, float dt = 1e-5, float beat = 7.5e-5, float stroke = 90)
EdgeValue qh x low { return 2 * heart() - value; }
Stages (half, full)
DefaultSize (3000001)
Steps 20000
InputRange a (2.95, 3.05)
InputRange q (0, 60)
InputRange rest (2.95, 3.05)
InputRange beta (2.5e5, 2.52e5)
float heart() { return stroke * fmax(sin(beat * iteration), 0); }
const float rho = 1.06;
const float friction = 0.9;
float flux(float s, float f, float b) { return f * f / s + b * pow(s, 1.5) / (3 * rho); }
# What the wall's change along the artery and friction do.
float source(float s, float f, float b0, float b1, float r0, float r1) {
  return s / rho * (b1 * sqrt(r1) - b0 * sqrt(r0)) - 2 * pow(s, 1.5) * (b1 - b0) / (3 * rho);
}
CellValue half (ah, qh) {
  float a0 = get(a, 0), a1 = get(a, 1), q0 = get(q, 0), q1 = get(q, 1), b0 = get(beta, 0), b1 = get(beta, 1);
  float s = 0.5 * (a0 + a1), f = 0.5 * (q0 + q1);
  return s - 0.5 * k * (q1 - q0),
         f - 0.5 * k * (flux(a1, q1, b1) - flux(a0, q0, b0) - source(s, f, b0, b1, get(rest, 0), get(rest, 1))) - 0.5 * dt * friction * f / s;
}
CellValue full (a, q) {
  float a0 = get(ah, -1), a1 = get(ah, 0), q0 = get(qh, -1), q1 = get(qh, 0);
  float b0 = 0.5 * (get(beta, -1) + get(beta, 0)), b1 = 0.5 * (get(beta, 0) + get(beta, 1));
  float r0 = 0.5 * (get(rest, -1) + get(rest, 0)), r1 = 0.5 * (get(rest, 0) + get(rest, 1));
  float s = 0.5 * (a0 + a1), f = 0.5 * (q0 + q1);
  if (x == 0) return get(a, 0) - k * (q1 - q0), heart();
  return get(a, 0) - k * (q1 - q0),
         get(q, 0) - k * (flux(a1, q1, b1) - flux(a0, q0, b0) - source(s, f, b0, b1, r0, r1)) - dt * friction * f / s;
}
