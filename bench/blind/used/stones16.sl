# A stream past stones, turbulent: nine populations of the lattice Boltzmann method, less their weights so that 16 bits hold them, computed in float32. What small
# eddies do follows from the stress (Smagorinsky). Stones throw populations back; the flow repeats along both axes and a force drives it.
# Source: Lehmann, Krause, Amati, Sega, Harting and Gekle, "Accuracy and performance of the lattice Boltzmann method with 64-bit, 32-bit, and customized 16-bit
# number formats" (2022), section 2; Hou, Sterling, Chen and Doolen, "A lattice Boltzmann subgrid model for high Reynolds number flows" (1996).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (f0: float16, f1: float16, f2: float16, f3: float16, f4: float16, f5: float16, f6: float16, f7: float16, f8: float16)
ReadOnly (stone: uint8)
Boundary wrap
DefaultSize (3000, 2000)
Steps 5000
InputRange (-0.01, 0.01)
InputRange stone {0, 0, 0, 0, 0, 0, 0, 1}
const float tau = 0.51;
const float smagorinsky = 0.03;
const float force = 0.00001;
const float w0 = 4.0 / 9;
const float w1 = 1.0 / 9;
const float w2 = 1.0 / 9;
const float w3 = 1.0 / 9;
const float w4 = 1.0 / 9;
const float w5 = 1.0 / 36;
const float w6 = 1.0 / 36;
const float w7 = 1.0 / 36;
const float w8 = 1.0 / 36;
CellValue {
  float g0 = get(f0, 0, 0);
  float g1 = get(f1, -1, 0);
  float g2 = get(f2, 1, 0);
  float g3 = get(f3, 0, -1);
  float g4 = get(f4, 0, 1);
  float g5 = get(f5, -1, -1);
  float g6 = get(f6, 1, 1);
  float g7 = get(f7, -1, 1);
  float g8 = get(f8, 1, -1);
  if (get(stone, 0, 0) > 0) return g0, g2, g1, g4, g3, g6, g5, g8, g7;
  float rho = 1 + g0 + g1 + g2 + g3 + g4 + g5 + g6 + g7 + g8;
  float u = (g1 - g2 + g5 - g6 + g7 - g8) / rho + force, v = (g3 - g4 + g5 - g6 - g7 + g8) / rho;
  float square = 1 - 1.5 * (u * u + v * v);
  float e0 = w0 * (rho * square - 1);
  float c1 = u;
  float e1 = w1 * (rho * (square + 3 * c1 + 4.5 * c1 * c1) - 1);
  float c2 = -u;
  float e2 = w2 * (rho * (square + 3 * c2 + 4.5 * c2 * c2) - 1);
  float c3 = v;
  float e3 = w3 * (rho * (square + 3 * c3 + 4.5 * c3 * c3) - 1);
  float c4 = -v;
  float e4 = w4 * (rho * (square + 3 * c4 + 4.5 * c4 * c4) - 1);
  float c5 = u + v;
  float e5 = w5 * (rho * (square + 3 * c5 + 4.5 * c5 * c5) - 1);
  float c6 = -u - v;
  float e6 = w6 * (rho * (square + 3 * c6 + 4.5 * c6 * c6) - 1);
  float c7 = u - v;
  float e7 = w7 * (rho * (square + 3 * c7 + 4.5 * c7 * c7) - 1);
  float c8 = -u + v;
  float e8 = w8 * (rho * (square + 3 * c8 + 4.5 * c8 * c8) - 1);
  float xx = (g1 - e1) + (g2 - e2) + (g5 - e5) + (g6 - e6) + (g7 - e7) + (g8 - e8);
  float yy = (g3 - e3) + (g4 - e4) + (g5 - e5) + (g6 - e6) + (g7 - e7) + (g8 - e8);
  float xy = (g5 - e5) + (g6 - e6) - (g7 - e7) - (g8 - e8);
  float stress = sqrt(xx * xx + yy * yy + 2 * xy * xy);
  float omega = 2 / (tau + sqrt(tau * tau + 18 * 1.4142135 * smagorinsky * stress / rho));
  return g0 - omega * (g0 - e0), g1 - omega * (g1 - e1), g2 - omega * (g2 - e2), g3 - omega * (g3 - e3), g4 - omega * (g4 - e4), g5 - omega * (g5 - e5), g6 - omega * (g6 - e6), g7 - omega * (g7 - e7), g8 - omega * (g8 - e8);
}
