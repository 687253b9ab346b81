# The cheapest way down a grid of costs, one row a step: a way moves at most one
# column from row to row. read() holds the rows one after the other.
# Source: Pathfinder in section 7.2 of "A Language and Optimizing Compiler for
# Iterative Stencil Loops"; Rodinia's pathfinder. Row 0 is the start state.
NumDimensions 1
StencilSize (1)
DataType int
Boundary clamp
DefaultSize (1048576)
Steps 100
InputRange (0, 9)
CellValue {
  int best = min(get(0), min(get(-1), get(1)));
  return read(iteration * input_size.x + x) + best;
}
