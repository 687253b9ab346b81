# Stages of which two set the same field, a temporary one, and all that Reduce may read.
NumDimensions 2
StencilSize (1, 1)
DataType double
ScalarVariables (double rate = 0.5, int scale = 4)
Fields (u, v, flow)
Temporary (flow)
ReadOnly (weight)
Boundary mirror
Stages (spread, mix, settle)
CellValue spread (flow) { return 0.25 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1)); }
CellValue mix (u) { return rate * get(flow, 0, 0) + 0.125 * get(v, 0, 0); }
CellValue settle (u, v) { return 0.75 * get(u, 0, 0) + 0.25 * get(flow, 0, 0), 0.5 * get(flow, 0, 0) - 0.25 * get(v, 0, 0); }
Reduce sum {
  double change = value(u) - get(u, 1, 0) + 0.5 * value(v);
  return (1 + get(weight, 0, 0)) * change * change * scale / (iteration * input_size.x * input_size.y);
}
Until <= 2e-5 every 3
