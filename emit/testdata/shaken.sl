# A membrane whose frame is shaken: in the frame's own motion every cell is pushed alike, by the sine of the time. Kernels compute it once a launch for
# each time step, not in every cell.
# Source: P. M. Morse and K. U. Ingard, "Theoretical Acoustics" (1968), section 5.2, forced motion of a damped membrane.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (u, before)
ScalarVariables (float omega = 0.03)
Boundary constant 0
DefaultSize (8192, 8192)
Reduce max { return fabs(value(u) - get(u, 0, 0)); }
Until < 0.05 every 4
CellValue {
  float push = 0.01 * sin(omega * iteration);
  float laplace = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * get(u, 0, 0);
  return 1.5 * get(u, 0, 0) - 0.5 * get(before, 0, 0) + 0.25 * laplace + push, get(u, 0, 0);
}
