# Waves from a source at one place, whose values by step are given at run time; v2 is the squared speed times the squared time step.
NumDimensions 2
StencilSize (1, 1)
Fields (p, old)
ReadOnly (v2, wavelet)
ScalarVariables (int sx = 3, int sy = 2)
Boundary constant 0
InputRange v2 (0, 0.4)
CellValue {
  float c = get(p, 0, 0);
  float lap = get(p, -1, 0) + get(p, 1, 0) + get(p, 0, -1) + get(p, 0, 1) - 4 * c;
  float next = 2 * c - get(old, 0, 0) + get(v2, 0, 0) * lap;
  if (x == sx && y == sy) next += read(wavelet, iteration - 1);
  return next, c;
}
