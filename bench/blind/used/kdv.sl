# Waves in shallow canals: the Korteweg-de Vries equation, leapfrog in time.
# Source: Zabusky and Kruskal, "Interaction of solitons in a collisionless plasma" (1965).
NumDimensions 1
StencilSize (2)
DataType double
Fields (u, old)
Boundary wrap
DefaultSize (20000000)
CellValue {
  double mean = (get(u, 1) + get(u, 0) + get(u, -1)) / 3;
  return get(old, 0) - 0.04 * mean * (get(u, 1) - get(u, -1)) -
         0.01 * (get(u, 2) - 2 * get(u, 1) + 2 * get(u, -1) - get(u, -2)), get(u, 0);
}
