# A fluid in the plane by the lattice Boltzmann method: nine populations, each pulled
# from the cell that it comes from, then relaxed to equilibrium at a single rate.
# Source: Qian, d'Humieres and Lallemand, "Lattice BGK models for Navier-Stokes
# equation" (1992), D2Q9. omega is the time step over the relaxation time.
NumDimensions 2
StencilSize (1, 1)
DataType float
ScalarVariables (float omega = 1.25)
Fields (f0, f1, f2, f3, f4, f5, f6, f7, f8)
Boundary wrap
DefaultSize (8192, 8192)
Steps 1000
InputRange (0.5, 1.5)
CellValue {
  float p0 = get(f0, 0, 0), p1 = get(f1, -1, 0), p2 = get(f2, 0, -1);
  float p3 = get(f3, 1, 0), p4 = get(f4, 0, 1), p5 = get(f5, -1, -1);
  float p6 = get(f6, 1, -1), p7 = get(f7, 1, 1), p8 = get(f8, -1, 1);
  float rho = p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8;
  float u = (p1 + p5 + p8 - p3 - p6 - p7) / rho;
  float v = (p2 + p5 + p6 - p4 - p7 - p8) / rho;
  float e = 1 - 1.5 * (u * u + v * v);
  // Of opposite directions the equilibria are s + d and s - d. Weights are 4/9, 1/9 and 1/36.
  float keep = 1 - omega;
  float r = omega * rho, er = e * r;
  float e1 = 0.11111111111111111 * er, c1 = 0.5 * r, d1 = 0.33333333333333333 * r;
  float e2 = 0.027777777777777778 * er, c2 = 0.125 * r, d2 = 0.083333333333333333 * r;
  float a = u + v, b = u - v;
  float su = e1 + c1 * u * u, sv = e1 + c1 * v * v;
  float sa = e2 + c2 * a * a, sb = e2 + c2 * b * b;
  return keep * p0 + 0.44444444444444444 * er,
         keep * p1 + (su + d1 * u), keep * p2 + (sv + d1 * v),
         keep * p3 + (su - d1 * u), keep * p4 + (sv - d1 * v),
         keep * p5 + (sa + d2 * a), keep * p6 + (sb - d2 * b),
         keep * p7 + (sa - d2 * a), keep * p8 + (sb + d2 * b);
}
