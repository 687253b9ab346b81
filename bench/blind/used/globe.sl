# Tides and storms of a shallow ocean on the turning earth, from 75 degrees south to 75 north: how deep it is (h, m), its flow eastward (u, at the cells' western faces) and
# northward (v, at their northern faces, a row less), in a form that keeps energy on a grid of circles of latitude; three stages a step. Cosines and Coriolis' parameter lie along y.
# Source: Sadourny, "The dynamics of finite-difference models of the shallow-water equations" (1975), the model that keeps energy, with the sphere's metric; Wicker and
# Skamarock, "Time-splitting methods for elastic models using forward time schemes" (2002), the three stages; Williamson and others (1992) for the equations.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (h, u, v, ha, ua, va, hb, ub, vb)
Temporary (ha, ua, va, hb, ub, vb)
ReadOnly (bed, cosu[y], cosv[y], fv[y])
Short (v y, va y, vb y, cosv y, fv y)
Boundary (wrap, clamp)
Boundary v y constant 0
Boundary va y constant 0
Boundary vb y constant 0
Stages (third, half, whole)
DefaultSize (3600, 1501)
Steps 10000
InputRange h (3900, 4100)
InputRange u (-2, 2)
InputRange v (-2, 2)
InputRange bed (-50, 50)
InputRange cosu (0.3, 1)
InputRange cosv (0.3, 1)
InputRange fv (-0.00014, 0.00014)
const double g = 9.80616;
const double width = 11119.492664455873;    # m: a tenth of a degree of a great circle
const double dt = 6;
double flow(double h0, double h1, double speed) { return 0.5 * (h0 + h1) * speed; }
double vorticitythird(int i, int j) {    # potential, at the corner of this cell's western face and northern face, moved by (i, j)
  double turn = ((get(v, i, j) - get(v, i - 1, j)) - (get(u, i, j + 1) * get(cosu, j + 1) - get(u, i, j) * get(cosu, j))) / (width * get(cosv, j));
  return 4 * (get(fv, j) + turn) / (get(h, i, j) + get(h, i - 1, j) + get(h, i, j + 1) + get(h, i - 1, j + 1));
}
double eastthird(int i, int j) { return flow(get(h, i - 1, j), get(h, i, j), get(u, i, j)); }
double norththird(int i, int j) { return flow(get(h, i, j), get(h, i, j + 1), get(v, i, j)) * get(cosv, j); }
double headthird(int i, int j) {
  double across = get(v, i, j - 1) * get(v, i, j - 1) * get(cosv, j - 1) + get(v, i, j) * get(v, i, j) * get(cosv, j);
  double along = get(u, i, j) * get(u, i, j) + get(u, i + 1, j) * get(u, i + 1, j);
  return g * (get(h, i, j) + get(bed, i, j)) + 0.25 * (along + across / get(cosu, j));
}
CellValue third (ha, ua, va) {
  double c = get(cosu, 0);
  double spread = (eastthird(1, 0) - eastthird(0, 0) + norththird(0, 0) - norththird(0, -1)) / (width * c);
  double q = vorticitythird(0, 0);
  double turnu = 0.25 * (q * (norththird(-1, 0) + norththird(0, 0)) + vorticitythird(0, -1) * (norththird(-1, -1) + norththird(0, -1))) / c;
  double turnv = 0.25 * (q * (eastthird(0, 0) + eastthird(0, 1)) + vorticitythird(1, 0) * (eastthird(1, 0) + eastthird(1, 1)));
  double here = headthird(0, 0);
  return get(h, 0, 0) - dt / 3 * spread, get(u, 0, 0) + dt / 3 * (turnu - (here - headthird(-1, 0)) / (width * c)),
         get(v, 0, 0) - dt / 3 * (turnv + (headthird(0, 1) - here) / width);
}
double vorticityhalf(int i, int j) {    # potential, at the corner of this cell's western face and northern face, moved by (i, j)
  double turn = ((get(va, i, j) - get(va, i - 1, j)) - (get(ua, i, j + 1) * get(cosu, j + 1) - get(ua, i, j) * get(cosu, j))) / (width * get(cosv, j));
  return 4 * (get(fv, j) + turn) / (get(ha, i, j) + get(ha, i - 1, j) + get(ha, i, j + 1) + get(ha, i - 1, j + 1));
}
double easthalf(int i, int j) { return flow(get(ha, i - 1, j), get(ha, i, j), get(ua, i, j)); }
double northhalf(int i, int j) { return flow(get(ha, i, j), get(ha, i, j + 1), get(va, i, j)) * get(cosv, j); }
double headhalf(int i, int j) {
  double across = get(va, i, j - 1) * get(va, i, j - 1) * get(cosv, j - 1) + get(va, i, j) * get(va, i, j) * get(cosv, j);
  double along = get(ua, i, j) * get(ua, i, j) + get(ua, i + 1, j) * get(ua, i + 1, j);
  return g * (get(ha, i, j) + get(bed, i, j)) + 0.25 * (along + across / get(cosu, j));
}
CellValue half (hb, ub, vb) {
  double c = get(cosu, 0);
  double spread = (easthalf(1, 0) - easthalf(0, 0) + northhalf(0, 0) - northhalf(0, -1)) / (width * c);
  double q = vorticityhalf(0, 0);
  double turnu = 0.25 * (q * (northhalf(-1, 0) + northhalf(0, 0)) + vorticityhalf(0, -1) * (northhalf(-1, -1) + northhalf(0, -1))) / c;
  double turnv = 0.25 * (q * (easthalf(0, 0) + easthalf(0, 1)) + vorticityhalf(1, 0) * (easthalf(1, 0) + easthalf(1, 1)));
  double here = headhalf(0, 0);
  return get(h, 0, 0) - 0.5 * dt * spread, get(u, 0, 0) + 0.5 * dt * (turnu - (here - headhalf(-1, 0)) / (width * c)),
         get(v, 0, 0) - 0.5 * dt * (turnv + (headhalf(0, 1) - here) / width);
}
double vorticitywhole(int i, int j) {    # potential, at the corner of this cell's western face and northern face, moved by (i, j)
  double turn = ((get(vb, i, j) - get(vb, i - 1, j)) - (get(ub, i, j + 1) * get(cosu, j + 1) - get(ub, i, j) * get(cosu, j))) / (width * get(cosv, j));
  return 4 * (get(fv, j) + turn) / (get(hb, i, j) + get(hb, i - 1, j) + get(hb, i, j + 1) + get(hb, i - 1, j + 1));
}
double eastwhole(int i, int j) { return flow(get(hb, i - 1, j), get(hb, i, j), get(ub, i, j)); }
double northwhole(int i, int j) { return flow(get(hb, i, j), get(hb, i, j + 1), get(vb, i, j)) * get(cosv, j); }
double headwhole(int i, int j) {
  double across = get(vb, i, j - 1) * get(vb, i, j - 1) * get(cosv, j - 1) + get(vb, i, j) * get(vb, i, j) * get(cosv, j);
  double along = get(ub, i, j) * get(ub, i, j) + get(ub, i + 1, j) * get(ub, i + 1, j);
  return g * (get(hb, i, j) + get(bed, i, j)) + 0.25 * (along + across / get(cosu, j));
}
CellValue whole (h, u, v) {
  double c = get(cosu, 0);
  double spread = (eastwhole(1, 0) - eastwhole(0, 0) + northwhole(0, 0) - northwhole(0, -1)) / (width * c);
  double q = vorticitywhole(0, 0);
  double turnu = 0.25 * (q * (northwhole(-1, 0) + northwhole(0, 0)) + vorticitywhole(0, -1) * (northwhole(-1, -1) + northwhole(0, -1))) / c;
  double turnv = 0.25 * (q * (eastwhole(0, 0) + eastwhole(0, 1)) + vorticitywhole(1, 0) * (eastwhole(1, 0) + eastwhole(1, 1)));
  double here = headwhole(0, 0);
  return get(h, 0, 0) - dt * spread, get(u, 0, 0) + dt * (turnu - (here - headwhole(-1, 0)) / (width * c)),
         get(v, 0, 0) - dt * (turnv + (headwhole(0, 1) - here) / width);
}
