# Everything at once: names that C or the launcher has taken, a copy, two read-only
# arrays, scalars of three types, the iteration, and a grid that wraps.
NumDimensions 2
StencilSize (2, 1)
DataType double
ScalarVariables (double stream = 0.25, int main = 3, float data = 0.5)
Fields (u, result)
ReadOnly (fields, template)
Boundary wrap
CellValue {
  double push = 0.125 * get(fields, 0, 0) + 0.0625 * get(template, 1, 0) + 0.01 * main;
  return stream * (get(u, -2, 0) + get(u, 1, 1) + get(u, 0, -1)) + data * get(result, 0, 0) * 0.25 + push / (1 + iteration), get(u, 0, 0);
}
