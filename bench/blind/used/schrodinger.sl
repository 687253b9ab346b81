# Schroedinger's equation in a potential: the real part, then the imaginary one from the new real one.
# Source: Visscher, "A fast explicit algorithm for the time-dependent Schroedinger equation" (1991), equations 5 to 7.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (re, im)
ReadOnly (v)
Boundary constant 0
Stages (real, imaginary)
DefaultSize (5000, 4000)
InputRange v (0, 0.5)
const double tau = 0.2;
CellValue real (re) {
  double lap = get(im, -1, 0) + get(im, 1, 0) + get(im, 0, -1) + get(im, 0, 1) - 4 * get(im, 0, 0);
  return get(re, 0, 0) + tau * (get(v, 0, 0) * get(im, 0, 0) - 0.5 * lap);
}
CellValue imaginary (im) {
  double lap = get(re, -1, 0) + get(re, 1, 0) + get(re, 0, -1) + get(re, 0, 1) - 4 * get(re, 0, 0);
  return get(im, 0, 0) - tau * (get(v, 0, 0) * get(re, 0, 0) - 0.5 * lap);
}
