# A forest that grows and burns: a cell is bare (0), a tree (1) or on fire (2). Fire spreads to the trees of the eight cells around and leaves bare ground; trees grow, and
# lightning strikes, by chance: a hash of the place, the step and a seed. The forest repeats.
# Source: Drossel and Schwabl, "Self-organized critical forest-fire model" (1992); random numbers by counters as Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
# as easy as 1, 2, 3" (2011) argue for, mixed by multipliers of L'Ecuyer's table (1999).
NumDimensions 2
StencilSize (1, 1)
DataType uint32
Fields (ground: uint8)
ScalarVariables (uint32 grows = 42949673, uint32 strikes = 42950, uint32 seed = 2024)    # of 2^32: one in 100, one in 100,000
Boundary wrap
DefaultSize (10007, 9973)
Steps 5000
InputRange ground (0, 2)
uint32 stirred(uint32 n) {
  uint32 m = n * 747796405 + 2891336453;
  m += m / 65536;
  m *= 1597334677;
  m += m / 8192;
  m *= 2654435769;
  return m + m / 65536;
}
CellValue {
  uint32 cell = get(ground, 0, 0);
  uint32 chance = stirred(stirred(x + 65537 * y) + stirred(iteration + seed));
  if (cell == 2) return 0;
  if (cell == 0) return chance < grows;
  int fires = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) fires += get(ground, i, j) == 2;
  return fires > 0 || chance < strikes ? 2 : 1;
}
