# Excitable tissue: a voltage that spreads and a slow recovery that does not.
# Source: FitzHugh, "Impulses and physiological states in theoretical models of nerve membrane" (1961); Nagumo et al. (1962).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (v, w)
Boundary mirror
DefaultSize (6001, 6001)
CellValue {
  float c = get(v, 0, 0);
  float lap = 0.5 * (get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1)) +
              0.25 * (get(v, -1, -1) + get(v, 1, -1) + get(v, -1, 1) + get(v, 1, 1)) - 3 * c;
  return c + 0.1 * lap + 0.05 * (c - c * c * c / 3 - get(w, 0, 0) + 0.5),
         get(w, 0, 0) + 0.05 * 0.08 * (c + 0.7 - 0.8 * get(w, 0, 0));
}
