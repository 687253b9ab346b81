# A solute in a flow that is given, by the lattice Boltzmann method with five populations.
# Source: Flekkoy, "Lattice Bhatnagar-Gross-Krook models for miscible fluids" (1993); weights 1/3 and 1/6.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (f0, f1, f2, f3, f4)
ReadOnly (u, v)
Boundary wrap
DefaultSize (4097, 4097)
InputRange (0.5, 1.5)
InputRange u (-0.1, 0.1)
InputRange v (-0.1, 0.1)
const float omega = 1.2;
CellValue {
  float p0 = get(f0, 0, 0), p1 = get(f1, -1, 0), p2 = get(f2, 1, 0), p3 = get(f3, 0, -1), p4 = get(f4, 0, 1);
  float c = p0 + p1 + p2 + p3 + p4;
  float ux = 3 * get(u, 0, 0), uy = 3 * get(v, 0, 0);
  return p0 + omega * (c / 3 - p0),
         p1 + omega * (c * (1 + ux) / 6 - p1), p2 + omega * (c * (1 - ux) / 6 - p2),
         p3 + omega * (c * (1 + uy) / 6 - p3), p4 + omega * (c * (1 - uy) / 6 - p4);
}
