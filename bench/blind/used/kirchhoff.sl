# A vibrating plate that is clamped at its edge: a biharmonic operator as two Laplacians, leapfrog in time.
# Source: Bilbao, "Numerical Sound Synthesis" (2009), chapter 12.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (w, old, m)
Temporary (m)
Boundary constant 0
Stages (moment, motion)
DefaultSize (4001, 3001)
CellValue moment (m) { return get(w, -1, 0) + get(w, 1, 0) + get(w, 0, -1) + get(w, 0, 1) - 4 * get(w, 0, 0); }
CellValue motion (w, old) {
  double b = get(m, -1, 0) + get(m, 1, 0) + get(m, 0, -1) + get(m, 0, 1) - 4 * get(m, 0, 0);
  return 1.999 * get(w, 0, 0) - 0.999 * get(old, 0, 0) - 0.04 * b, get(w, 0, 0);
}
