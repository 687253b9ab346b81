# A gas of particles on a square lattice, at most one of each direction in a cell: two that meet head on leave across. Stones throw them back.
# Source: Hardy, Pomeau and de Pazzis, "Time evolution of a two-dimensional model system" (1973).
NumDimensions 2
StencilSize (1, 1)
DataType uint8
Fields (e, n, w, s)
ReadOnly (stone)
Boundary (wrap, constant 0)
DefaultSize (6016, 6001)
InputRange stone {0, 1}
CellValue {
  int a = get(e, -1, 0), b = get(n, 0, -1), c = get(w, 1, 0), d = get(s, 0, 1);
  int t = a * c * (1 - b) * (1 - d) - b * d * (1 - a) * (1 - c);
  bool back = get(stone, 0, 0) != 0;
  return back ? c : a - t, back ? d : b + t, back ? a : c - t, back ? b : d + t;
}
