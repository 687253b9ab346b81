/* Plate of section 7.4 of "A Language and Optimizing Compiler for Iterative Stencil
   Loops", in the keys of its section 4 alone: four adjacent cells, the heat enters by
   EdgeValue. The paper gives no text; the temperatures are ours. */
NumDimensions 2
StencilSize (1, 1)
DataType float
FunctionName runPlate
CellValue {
  float sum;
  sum = get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1);
  return(sum / 4);
}
EdgeValue {
  if (y < 0) return 100.0;
  if (x < 0 || x >= input_size.x) return value / 2;
  return 0;
}
