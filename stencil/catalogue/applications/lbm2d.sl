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
  float w0 = 0.44444444444444444 * rho;
  float w1 = 0.11111111111111111 * rho;
  float w2 = 0.027777777777777778 * rho;
  float q5 = u + v, q8 = u - v;
  return p0 + omega * (w0 * e - p0),
         p1 + omega * (w1 * (e + 3 * u + 4.5 * u * u) - p1),
         p2 + omega * (w1 * (e + 3 * v + 4.5 * v * v) - p2),
         p3 + omega * (w1 * (e - 3 * u + 4.5 * u * u) - p3),
         p4 + omega * (w1 * (e - 3 * v + 4.5 * v * v) - p4),
         p5 + omega * (w2 * (e + 3 * q5 + 4.5 * q5 * q5) - p5),
         p6 + omega * (w2 * (e - 3 * q8 + 4.5 * q8 * q8) - p6),
         p7 + omega * (w2 * (e - 3 * q5 + 4.5 * q5 * q5) - p7),
         p8 + omega * (w2 * (e + 3 * q8 + 4.5 * q8 * q8) - p8);
}
