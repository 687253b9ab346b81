# Liquid and vapour that part between stones: nine populations of the lattice Boltzmann method and the force of Shan and Chen between neighbours. Stones throw populations back and are wetted.
# Source: Shan and Chen, "Lattice Boltzmann model for simulating flows with multiple phases and components" (1993); Huang, Sukop and Lu, "Multiphase Lattice Boltzmann Methods" (2015), chapter 2, one component.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (f0, f1, f2, f3, f4, f5, f6, f7, f8, rho)
Temporary (rho)
ReadOnly (stone: uint8)
ScalarVariables (float tau = 1, float G = -5, float wetting = 0.4)
Boundary wrap
Stages (density, collide)
DefaultSize (1530, 1100)
Steps 5000
InputRange f0 (0.3, 0.6)
InputRange f1 (0.08, 0.15)
InputRange f2 (0.08, 0.15)
InputRange f3 (0.08, 0.15)
InputRange f4 (0.08, 0.15)
InputRange f5 (0.02, 0.04)
InputRange f6 (0.02, 0.04)
InputRange f7 (0.02, 0.04)
InputRange f8 (0.02, 0.04)
InputRange stone {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
# What comes from a neighbour; from a stone it is what was sent there.
float in1() { return get(stone, -1, 0) > 0 ? get(f3, 0, 0) : get(f1, -1, 0); }
float in2() { return get(stone, 0, -1) > 0 ? get(f4, 0, 0) : get(f2, 0, -1); }
float in3() { return get(stone, 1, 0) > 0 ? get(f1, 0, 0) : get(f3, 1, 0); }
float in4() { return get(stone, 0, 1) > 0 ? get(f2, 0, 0) : get(f4, 0, 1); }
float in5() { return get(stone, -1, -1) > 0 ? get(f7, 0, 0) : get(f5, -1, -1); }
float in6() { return get(stone, 1, -1) > 0 ? get(f8, 0, 0) : get(f6, 1, -1); }
float in7() { return get(stone, 1, 1) > 0 ? get(f5, 0, 0) : get(f7, 1, 1); }
float in8() { return get(stone, -1, 1) > 0 ? get(f6, 0, 0) : get(f8, -1, 1); }
CellValue density (rho) {
  if (get(stone, 0, 0) > 0) return wetting;
  return get(f0, 0, 0) + in1() + in2() + in3() + in4() + in5() + in6() + in7() + in8();
}
float psi(int i, int j) { return 1 - exp(-get(rho, i, j)); }
float equilibrium(float w, float d, float eu, float uu) { return w * d * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * uu); }
CellValue collide (f0, f1, f2, f3, f4, f5, f6, f7, f8) {
  if (get(stone, 0, 0) > 0)
    return get(f0, 0, 0), get(f1, 0, 0), get(f2, 0, 0), get(f3, 0, 0), get(f4, 0, 0), get(f5, 0, 0), get(f6, 0, 0), get(f7, 0, 0), get(f8, 0, 0);
  float a0 = get(f0, 0, 0), a1 = in1(), a2 = in2(), a3 = in3(), a4 = in4(), a5 = in5(), a6 = in6(), a7 = in7(), a8 = in8();
  float d = get(rho, 0, 0), here = psi(0, 0);
  float ne = psi(1, 1), nw = psi(-1, 1), sw = psi(-1, -1), se = psi(1, -1);
  float fx = -G * here * ((psi(1, 0) - psi(-1, 0)) / 9 + (ne - nw - sw + se) / 36);
  float fy = -G * here * ((psi(0, 1) - psi(0, -1)) / 9 + (ne + nw - sw - se) / 36);
  float u = (a1 - a3 + a5 - a6 - a7 + a8 + tau * fx) / d, v = (a2 - a4 + a5 + a6 - a7 - a8 + tau * fy) / d;
  float uu = u * u + v * v, k = 1 / tau;
  return a0 + k * (equilibrium(4.0 / 9, d, 0.0, uu) - a0),
         a1 + k * (equilibrium(1.0 / 9, d, u, uu) - a1), a2 + k * (equilibrium(1.0 / 9, d, v, uu) - a2),
         a3 + k * (equilibrium(1.0 / 9, d, -u, uu) - a3), a4 + k * (equilibrium(1.0 / 9, d, -v, uu) - a4),
         a5 + k * (equilibrium(1.0 / 36, d, u + v, uu) - a5), a6 + k * (equilibrium(1.0 / 36, d, v - u, uu) - a6),
         a7 + k * (equilibrium(1.0 / 36, d, -u - v, uu) - a7), a8 + k * (equilibrium(1.0 / 36, d, u - v, uu) - a8);
}
