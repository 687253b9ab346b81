# A pile of sand in a volume that keeps itself critical: a cell of six grains or more topples and gives one to each of its six neighbours; what leaves the box is lost.
# A grain falls in only when all is at rest, so that each avalanche runs alone. How often each cell has toppled is counted.
# Source: Bak, Tang and Wiesenfeld, "Self-organized criticality" (1988), section III, in three dimensions, all unstable cells at once as Dhar, "Self-organized critical
# state of sandpile automaton models" (1990) allows.
NumDimensions 3
StencilSize (1, 1, 1)
DataType int32
Fields (grains: uint8, topplings)
Boundary constant 0
DefaultSize (330, 330, 330)
Steps 20000
InputRange grains (0, 5)
InputRange topplings (0, 100)
InputRange falling {0, 1}
StepScalar max highest { return get(grains, 0, 0, 0); }
int topples(int i, int j, int k) { return get(grains, i, j, k) >= 6; }
CellValue {
  int own = topples(0, 0, 0);
  int got = topples(-1, 0, 0) + topples(1, 0, 0) + topples(0, -1, 0) + topples(0, 1, 0) + topples(0, 0, -1) + topples(0, 0, 1);
  return get(grains, 0, 0, 0) - 6 * own + got, get(topplings, 0, 0, 0) + own;
}
Sources falling (grains) { return highest < 6 ? get(grains, 0, 0, 0) + value : get(grains, 0, 0, 0); }
Receivers avalanche { return get(topplings, 0, 0, 0); }
