# The game of life in a volume: a cell is 1 (alive) or 0 (dead), and its 26
# neighbours decide. A live cell stays with 4 or 5 of them, a dead one is born with 5.
# Source: Cell in section 7.5 of "A Language and Optimizing Compiler for Iterative
# Stencil Loops"; the rule 4555 is of Bays, "Candidates for the game of life in
# three dimensions" (1987). Outside the grid all is dead. A fifth of the cells live at
# first: with more or fewer hardly one lives after two steps.
NumDimensions 3
StencilSize (1, 1, 1)
DataType int
Boundary constant 0
InputRange {0, 0, 0, 0, 1}
DefaultSize (512, 512, 512)
Steps 1000
CellValue {
  int alive = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++)
        if (i != 0 || j != 0 || k != 0)
          alive += get(i, j, k);
  return alive == 5 || alive == 4 && get(0, 0, 0) == 1;
}
