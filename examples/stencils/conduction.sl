# Heat in a material whose conductivity k varies; nothing flows through the edges.
NumDimensions 2
StencilSize (1, 1)
DataType double
ScalarVariables (double dt = 0.1)
Fields (t)
ReadOnly (k)
Boundary clamp
InputRange (0.5, 1.5)
double flow(int dx, int dy) { return 0.5 * (get(k, dx, dy) + get(k, 0, 0)) * (get(t, dx, dy) - get(t, 0, 0)); }
CellValue { return get(t, 0, 0) + dt * (flow(1, 0) + flow(-1, 0) + flow(0, 1) + flow(0, -1)); }
