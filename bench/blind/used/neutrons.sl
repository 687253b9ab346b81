# Neutrons of four energies: each diffuses, is absorbed and scatters down to the next; the slow ones split.
# Source: Duderstadt and Hamilton, "Nuclear Reactor Analysis" (1976), chapter 7, multigroup diffusion; explicit step.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (a, b, c, d)
Boundary constant 0
DefaultSize (3600, 3600)
InputRange (0, 1)
CellValue {
  double la = get(a, -1, 0) + get(a, 1, 0) + get(a, 0, -1) + get(a, 0, 1) - 4 * get(a, 0, 0);
  double lb = get(b, -1, 0) + get(b, 1, 0) + get(b, 0, -1) + get(b, 0, 1) - 4 * get(b, 0, 0);
  double lc = get(c, -1, 0) + get(c, 1, 0) + get(c, 0, -1) + get(c, 0, 1) - 4 * get(c, 0, 0);
  double ld = get(d, -1, 0) + get(d, 1, 0) + get(d, 0, -1) + get(d, 0, 1) - 4 * get(d, 0, 0);
  return get(a, 0, 0) + 0.21 * la - 0.09 * get(a, 0, 0) + 0.02 * get(c, 0, 0) + 0.07 * get(d, 0, 0),
         get(b, 0, 0) + 0.14 * lb - 0.08 * get(b, 0, 0) + 0.08 * get(a, 0, 0),
         get(c, 0, 0) + 0.10 * lc - 0.07 * get(c, 0, 0) + 0.06 * get(b, 0, 0),
         get(d, 0, 0) + 0.05 * ld - 0.10 * get(d, 0, 0) + 0.05 * get(c, 0, 0);
}
