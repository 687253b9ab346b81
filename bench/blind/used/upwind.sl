# A tracer in a uniform wind, second order, by differences to one side.
# Source: Warming and Beam, "Upwind second-order difference schemes and applications in
# aerodynamic flows" (1976), axis by axis, with the mixed term; Courant numbers 0.3 and 0.2.
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary wrap
DefaultSize (12000, 9001)
CellValue {
  float dx = 1.5 * get(0, 0) - 2 * get(-1, 0) + 0.5 * get(-2, 0);
  float dy = 1.5 * get(0, 0) - 2 * get(0, -1) + 0.5 * get(0, -2);
  float dxy = get(0, 0) - get(-1, 0) - get(0, -1) + get(-1, -1);
  float dxx = get(0, 0) - 2 * get(-1, 0) + get(-2, 0), dyy = get(0, 0) - 2 * get(0, -1) + get(0, -2);
  return get(0, 0) - 0.3 * dx - 0.2 * dy + 0.045 * dxx + 0.02 * dyy + 0.06 * dxy;
}
