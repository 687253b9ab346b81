# Land that rises and that rivers carve: its height h (m), where the water of each cell goes (to: 0 nowhere, else one of the eight around, the steepest way down) and how much
# land it drains (cells, by their rain). Rivers cut as the root of what they drain times their slope, hills creep. The sea lies south, a range's crest north; it repeats from east to west.
# Source: O'Callaghan and Mark, "The extraction of drainage networks from digital elevation data" (1984), directions; Ortega and Rueda, "Parallel drainage network computation on CUDA"
# (2010), water handed on by all cells at once; Perron, Dietrich and Kirchner, "Controls on the spacing of first-order valleys" (2008), the equation of height, without a threshold.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (h, drained, to: uint8)
ReadOnly (rain, soft)
ScalarVariables (float dt = 100, float uplift = 0.0005, float creep = 0.02)
Boundary (wrap, clamp)
Boundary h y (constant 0, clamp)
Boundary drained y constant 0
Boundary to y constant 0
Stages (steer, pour, carve)
DefaultSize (6001, 4003)
Steps 3000
InputRange h (0, 60)
InputRange drained (1, 30)
InputRange to (0, 8)
InputRange rain (0.5, 1.5)
InputRange soft (0.00002, 0.0001)
const float width = 20;
const float diagonal = 28.284271;
const int ex[9] = {0, 1, 1, 0, -1, -1, -1, 0, 1};
const int ey[9] = {0, 0, 1, 1, 1, 0, -1, -1, -1};
CellValue steer (to) {
  float here = get(h, 0, 0), steepest = 0;
  int way = 0;
  for (int k = 1; k <= 8; k++) {
    float slope = (here - get(h, ex[k], ey[k])) / (k % 2 == 1 ? width : diagonal);
    if (slope > steepest) {
      steepest = slope;
      way = k;
    }
  }
  return way;
}
# The cell in direction k pours into this one if its own direction is the opposite.
CellValue pour (drained) {
  float sum = get(rain, 0, 0);
  for (int k = 1; k <= 8; k++)
    if (get(to, ex[k], ey[k]) == (k + 3) % 8 + 1) sum += get(drained, ex[k], ey[k]);
  return sum;
}
CellValue carve (h) {
  float here = get(h, 0, 0), below = here, slope = 0;
  for (int k = 1; k <= 8; k++)
    if (get(to, 0, 0) == k) {
      below = get(h, ex[k], ey[k]);
      slope = (here - below) / (k % 2 == 1 ? width : diagonal);
    }
  float bend = get(h, -1, 0) + get(h, 1, 0) + get(h, 0, -1) + get(h, 0, 1) - 4 * here;
  float cut = dt * get(soft, 0, 0) * sqrt(get(drained, 0, 0) * width * width) * slope;
  return fmax(here - cut, below) + dt * (uplift + creep / (width * width) * bend);
}
