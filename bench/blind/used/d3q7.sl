# Diffusion in a porous volume, by the lattice Boltzmann method with seven populations that bounce back from rock.
# Source: Yoshida and Nagaoka, "Multiple-relaxation-time lattice Boltzmann model for the convection and anisotropic diffusion
# equation" (2010), with one relaxation time; weights 1/4 and 1/8.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (f0, f1, f2, f3, f4, f5, f6)
ReadOnly (rock: uint8)
Boundary wrap
DefaultSize (300, 256, 260)
InputRange (0.5, 1.5)
InputRange rock {0, 1}
const float omega = 0.9;
CellValue {
  float p0 = get(f0, 0, 0, 0), p1 = get(f1, -1, 0, 0), p2 = get(f2, 1, 0, 0), p3 = get(f3, 0, -1, 0), p4 = get(f4, 0, 1, 0);
  float p5 = get(f5, 0, 0, -1), p6 = get(f6, 0, 0, 1);
  float e = omega * (p0 + p1 + p2 + p3 + p4 + p5 + p6) / 8, k = 1 - omega;
  bool solid = get(rock, 0, 0, 0) != 0;
  return solid ? p0 : k * p0 + 2 * e,
         solid ? p2 : k * p1 + e, solid ? p1 : k * p2 + e, solid ? p4 : k * p3 + e,
         solid ? p3 : k * p4 + e, solid ? p6 : k * p5 + e, solid ? p5 : k * p6 + e;
}
