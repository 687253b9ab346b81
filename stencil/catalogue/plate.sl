# Heat in a plate whose upper edge is hot and whose other edges are cold.
# Source: Plate in section 7.4 of "A Language and Optimizing Compiler for Iterative
# Stencil Loops": four adjacent cells, the heat enters by EdgeValue. The paper
# gives no text; these temperatures are ours.
NumDimensions 2
StencilSize (1, 1)
DataType float
DefaultSize (8192, 8192)
Steps 1000
CellValue {
  return 0.25 * (get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1));
}
EdgeValue {
  return y < 0 ? 100.0 : 0.0;
}
