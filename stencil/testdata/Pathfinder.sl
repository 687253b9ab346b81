/* Pathfinder of section 7.2 of "A Language and Optimizing Compiler for Iterative
   Stencil Loops", in the keys of its section 4 alone: the cheapest way down a grid of
   costs, a row each step, read from the array that runPathfinderSetData gives. The
   paper gives no text. */
NumDimensions 1
StencilSize (1)
DataType int
FunctionName runPathfinder
CellValue {
  int left, mid, right, best;
  left = get(-1);
  mid = get(0);
  right = get(1);
  best = left < mid ? left : mid;
  best = best < right ? best : right;
  return(read(iteration * input_size.x + x) + best);
}
EdgeValue {
  return value;
}
