# Heat and salt that an ocean's currents carry between coasts: slopes limited as MUSCL does, upwind where a river or ice says so, along x and y, and then downwards. Bytes say where there is water; a step is applied to currents that are given.
# Source: NEMO's tra_adv in the PSyclone benchmark set (tra_adv.F90, tutorial/practicals/nemo); Estubier and Levy, "Quel schema numerique pour le transport d'organismes biologiques par la circulation oceanique?" (2000).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (t, s, tx, ty, sx, sy, tlx, tly, slx, sly)
Temporary (tx, ty, sx, sy, tlx, tly, slx, sly)
ReadOnly (un, vn, wn, tmask: uint8, umask: uint8, vmask: uint8, rivers: float32)
ScalarVariables (double dt = 1)
Boundary (wrap, clamp, clamp)
Boundary tx y constant 0
Boundary ty y constant 0
Stages (differences, slopes, fluxes, horizontal, dz, zslopes, sinking, vertical)
DefaultSize (360, 291, 75)
Steps 100
InputRange t (-2, 30)
InputRange s (30, 38)
InputRange un (-0.01, 0.01)
InputRange vn (-0.01, 0.01)
InputRange wn (-0.01, 0.01)
InputRange tmask {0, 1, 1, 1}
InputRange umask {0, 1, 1, 1}
InputRange vmask {0, 1, 1, 1}
InputRange rivers {0, 1, 1, 1, 1, 1, 1, 1}
double limited(double low, double high) {
  double m = low * high >= 0 ? 0.5 * (low + high) : 0;
  double least = min(abs(m), min(2 * abs(low), 2 * abs(high)));
  return m >= 0 ? least : -least;
}
# Through a face: what comes from its low or its high side, each with its slope.
double through(double p, double c0, double c1, double l0, double l1) {
  double side = p >= 0 ? 0.5 : -0.5;
  double u = side - 0.5 * p * dt;
  double r = get(rivers, 0, 0, 0);
  return p * ((0.5 - side) * (c1 + r * u * l1) + (0.5 + side) * (c0 + r * u * l0));
}
CellValue differences (tx, ty, sx, sy) {
  return get(umask, 0, 0, 0) * (get(t, 1, 0, 0) - get(t, 0, 0, 0)), get(vmask, 0, 0, 0) * (get(t, 0, 1, 0) - get(t, 0, 0, 0)),
         get(umask, 0, 0, 0) * (get(s, 1, 0, 0) - get(s, 0, 0, 0)), get(vmask, 0, 0, 0) * (get(s, 0, 1, 0) - get(s, 0, 0, 0));
}
CellValue slopes (tlx, tly, slx, sly) {
  return limited(get(tx, -1, 0, 0), get(tx, 0, 0, 0)), limited(get(ty, 0, -1, 0), get(ty, 0, 0, 0)),
         limited(get(sx, -1, 0, 0), get(sx, 0, 0, 0)), limited(get(sy, 0, -1, 0), get(sy, 0, 0, 0));
}
CellValue fluxes (tx, ty, sx, sy) {
  double u = get(un, 0, 0, 0) * get(umask, 0, 0, 0), v = get(vn, 0, 0, 0) * get(vmask, 0, 0, 0);
  return through(u, get(t, 0, 0, 0), get(t, 1, 0, 0), get(tlx, 0, 0, 0), get(tlx, 1, 0, 0)),
         through(v, get(t, 0, 0, 0), get(t, 0, 1, 0), get(tly, 0, 0, 0), get(tly, 0, 1, 0)),
         through(u, get(s, 0, 0, 0), get(s, 1, 0, 0), get(slx, 0, 0, 0), get(slx, 1, 0, 0)),
         through(v, get(s, 0, 0, 0), get(s, 0, 1, 0), get(sly, 0, 0, 0), get(sly, 0, 1, 0));
}
CellValue horizontal (t, s) {
  double water = get(tmask, 0, 0, 0) * dt;
  return get(t, 0, 0, 0) - water * (get(tx, 0, 0, 0) - get(tx, -1, 0, 0) + get(ty, 0, 0, 0) - get(ty, 0, -1, 0)),
         get(s, 0, 0, 0) - water * (get(sx, 0, 0, 0) - get(sx, -1, 0, 0) + get(sy, 0, 0, 0) - get(sy, 0, -1, 0));
}
# At the top of a cell; z counts downwards, and nothing passes the surface.
CellValue dz (tx, sx) {
  return get(tmask, 0, 0, 0) * (get(t, 0, 0, -1) - get(t, 0, 0, 0)), get(tmask, 0, 0, 0) * (get(s, 0, 0, -1) - get(s, 0, 0, 0));
}
CellValue zslopes (tlx, slx) {
  return limited(get(tx, 0, 0, 1), get(tx, 0, 0, 0)), limited(get(sx, 0, 0, 1), get(sx, 0, 0, 0));
}
CellValue sinking (tx, sx) {
  double w = z == 0 ? 0 : get(wn, 0, 0, 0) * get(tmask, 0, 0, 0) * get(tmask, 0, 0, -1);
  return through(w, get(t, 0, 0, 0), get(t, 0, 0, -1), get(tlx, 0, 0, 0), get(tlx, 0, 0, -1)),
         through(w, get(s, 0, 0, 0), get(s, 0, 0, -1), get(slx, 0, 0, 0), get(slx, 0, 0, -1));
}
CellValue vertical (t, s) {
  double water = get(tmask, 0, 0, 0) * dt;
  bool bottom = z == input_size.z - 1;
  return get(t, 0, 0, 0) - water * (get(tx, 0, 0, 0) - (bottom ? 0.0 : get(tx, 0, 0, 1))),
         get(s, 0, 0, 0) - water * (get(sx, 0, 0, 0) - (bottom ? 0.0 : get(sx, 0, 0, 1)));
}
