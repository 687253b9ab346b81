# A flow through a channel: it repeats along x and rests at the walls above and below. A constant
# pressure gradient drives it; the momentum equations, upwind differences.
# Source: step 12 of Barba & Forsyth, "CFD Python: the 12 steps to Navier-Stokes equations", JOSE 2018.
NumDimensions 2
StencilSize (1, 1)
Fields (u, v)
Boundary (wrap, constant 0)
InputRange (0, 0.2)
ScalarVariables (float courant = 0.2, float viscous = 0.1, float force = 0.001)
CellValue {
  float a = get(u, 0, 0), b = get(v, 0, 0);
  float du = a * (a - get(u, -1, 0)) + b * (a - get(u, 0, -1));
  float dv = a * (b - get(v, -1, 0)) + b * (b - get(v, 0, -1));
  float lu = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * a;
  float lv = get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1) - 4 * b;
  return a - courant * du + viscous * lu + force, b - courant * dv + viscous * lv;
}
