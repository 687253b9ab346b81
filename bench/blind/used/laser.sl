# A few cycles of light run into atoms of two levels: Maxwell's equations along a line, e at its points and h between two of them, with the Bloch
# vector of the atoms at each point, found with the new field by four rounds of a corrector. A wall that conducts closes either end.
# Source: Ziolkowski, Arnold and Gogny, "Ultrafast pulse interactions with two-level atoms" (1995), equations 1 to 7.
NumDimensions 1
StencilSize (1)
DataType float
Fields (e, h, u1, u2, u3)
ReadOnly (atoms)
Short (h x)
Boundary fixed
Boundary h clamp
Stages (magnetic, electric)
DefaultSize (12000000)
InputRange atoms (0, 1)
InputRange u3 (-1, 1)
const float courant = 0.5;
const float omega = 0.0157;      # of the transition, a step
const float rabi = 0.02;         # twice the dipole's moment by the field over Planck's constant, a step
const float density = 0.004;     # what the atoms' dipoles add to the field
const float t1 = 60000;          # in steps
const float t2 = 30000;
CellValue magnetic (h) { return get(h, 0) - courant * (get(e, 1) - get(e, 0)); }
CellValue electric (e, u1, u2, u3) {
  float e0 = get(e, 0), a0 = get(u1, 0), b0 = get(u2, 0), c0 = get(u3, 0);
  float curl = -courant * (get(h, 0) - get(h, -1));
  if (x == 64) {
    float t = (iteration - 2000) / 400.0;
    curl += 0.5 * sin(omega * iteration) / cosh(t);
  }
  float n = density * get(atoms, 0);
  float e1 = e0, a1 = a0, b1 = b0, c1 = c0;
  for (int k = 0; k < 4; k++) {
    float em = 0.5 * (e0 + e1), am = 0.5 * (a0 + a1), bm = 0.5 * (b0 + b1), cm = 0.5 * (c0 + c1);
    float da = -am / t2 + omega * bm;
    a1 = a0 + da;
    b1 = b0 - omega * am - bm / t2 + rabi * em * cm;
    c1 = c0 - rabi * em * bm - (cm + 1) / t1;
    e1 = e0 + curl + n * da;
  }
  return e1, a1, b1, c1;
}
