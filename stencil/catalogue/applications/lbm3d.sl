# A fluid in a volume by the lattice Boltzmann method: 19 populations, each pulled
# from the cell that it comes from, then relaxed to equilibrium at a single rate.
# Source: Qian, d'Humieres and Lallemand, "Lattice BGK models for Navier-Stokes
# equation" (1992), D3Q19. omega is the time step over the relaxation time.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
ScalarVariables (float omega = 1.25)
Fields (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18)
Boundary wrap
DefaultSize (256, 256, 256)
Steps 1000
InputRange (0.5, 1.5)
CellValue {
  float p0 = get(f0, 0, 0, 0), p1 = get(f1, -1, 0, 0), p2 = get(f2, 1, 0, 0);
  float p3 = get(f3, 0, -1, 0), p4 = get(f4, 0, 1, 0), p5 = get(f5, 0, 0, -1);
  float p6 = get(f6, 0, 0, 1), p7 = get(f7, -1, -1, 0), p8 = get(f8, 1, 1, 0);
  float p9 = get(f9, -1, 1, 0), p10 = get(f10, 1, -1, 0), p11 = get(f11, -1, 0, -1);
  float p12 = get(f12, 1, 0, 1), p13 = get(f13, -1, 0, 1), p14 = get(f14, 1, 0, -1);
  float p15 = get(f15, 0, -1, -1), p16 = get(f16, 0, 1, 1), p17 = get(f17, 0, -1, 1);
  float p18 = get(f18, 0, 1, -1);
  float rho = p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7 + p8 + p9 + p10 + p11 + p12 + p13 + p14 + p15 + p16 +
              p17 + p18;
  float u = (p1 + p7 + p9 + p11 + p13 - p2 - p8 - p10 - p12 - p14) / rho;
  float v = (p3 + p7 + p10 + p15 + p17 - p4 - p8 - p9 - p16 - p18) / rho;
  float w = (p5 + p11 + p14 + p15 + p18 - p6 - p12 - p13 - p16 - p17) / rho;
  float e = 1 - 1.5 * (u * u + v * v + w * w);
  float w0 = 0.33333333333333333 * rho;
  float w1 = 0.055555555555555556 * rho;
  float w2 = 0.027777777777777778 * rho;
  float q7 = u + v, q9 = u - v, q11 = u + w, q13 = u - w, q15 = v + w, q17 = v - w;
  return p0 + omega * (w0 * e - p0),
         p1 + omega * (w1 * (e + 3 * u + 4.5 * u * u) - p1),
         p2 + omega * (w1 * (e - 3 * u + 4.5 * u * u) - p2),
         p3 + omega * (w1 * (e + 3 * v + 4.5 * v * v) - p3),
         p4 + omega * (w1 * (e - 3 * v + 4.5 * v * v) - p4),
         p5 + omega * (w1 * (e + 3 * w + 4.5 * w * w) - p5),
         p6 + omega * (w1 * (e - 3 * w + 4.5 * w * w) - p6),
         p7 + omega * (w2 * (e + 3 * q7 + 4.5 * q7 * q7) - p7),
         p8 + omega * (w2 * (e - 3 * q7 + 4.5 * q7 * q7) - p8),
         p9 + omega * (w2 * (e + 3 * q9 + 4.5 * q9 * q9) - p9),
         p10 + omega * (w2 * (e - 3 * q9 + 4.5 * q9 * q9) - p10),
         p11 + omega * (w2 * (e + 3 * q11 + 4.5 * q11 * q11) - p11),
         p12 + omega * (w2 * (e - 3 * q11 + 4.5 * q11 * q11) - p12),
         p13 + omega * (w2 * (e + 3 * q13 + 4.5 * q13 * q13) - p13),
         p14 + omega * (w2 * (e - 3 * q13 + 4.5 * q13 * q13) - p14),
         p15 + omega * (w2 * (e + 3 * q15 + 4.5 * q15 * q15) - p15),
         p16 + omega * (w2 * (e - 3 * q15 + 4.5 * q15 * q15) - p16),
         p17 + omega * (w2 * (e + 3 * q17 + 4.5 * q17 * q17) - p17),
         p18 + omega * (w2 * (e - 3 * q17 + 4.5 * q17 * q17) - p18);
}
