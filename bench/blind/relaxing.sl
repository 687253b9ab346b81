# Gas in a shock tube by a relaxation scheme: density, momentum and energy (r, m, e) and for each a flux of its own (fr, fm, fe) that is carried with it linearly, both ways at the speed s,
# and is drawn to what Euler's equations say. Upwind with van Leer's limiter; of the two stages in time either relaxes first, without solving equations for all its stiffness.
# Source: Jin and Xin, "The relaxation schemes for systems of conservation laws in arbitrary space dimensions" (1995), sections 3 and 5, the second-order relaxing scheme.
NumDimensions 1
StencilSize (2)
DataType double
Fields (r, m, e, fr, fm, fe, gr, gm, ge, ra, ma, ea, ha, hb, hc)
Temporary (gr, gm, ge, ra, ma, ea, ha, hb, hc)
Boundary clamp
Stages (relax, carry, relaxagain, carryagain)
DefaultSize (3000017)
Steps 4000
InputRange r (1, 1.5)
InputRange m (-0.1, 0.1)
InputRange e (2, 2.5)
InputRange fr (-0.1, 0.1)
InputRange fm (0.8, 1)
InputRange fe (-0.3, 0.3)
const double s = 2.246;          # no wave of the gas is faster
const double l = 0.2;            # time step over mesh width
const double stiff = 100000;     # time step over relaxation time
double pressure(double a, double b, double c) { return 0.4 * (c - 0.5 * b * b / a); }
double limited(double a, double b) { return a * b > 0 ? 2 * a * b / (a + b) : 0; }
# What moves right (from the left cell) and left (from the right one) through a face: f + s u and f - s u of three cells each.
double moving(double a, double b, double c) { return b + 0.5 * limited(b - a, c - b); }
double right(double ua, double ub, double uc, double fa, double fb, double fc) { return moving(fa + s * ua, fb + s * ub, fc + s * uc); }
double left(double ua, double ub, double uc, double fa, double fb, double fc) { return moving(fc - s * uc, fb - s * ub, fa - s * ua); }
# The changes of u and of its flux over a step, from five cells.
double changeu(double u1, double u2, double u3, double u4, double u5, double f1, double f2, double f3, double f4, double f5) {
  return -0.5 * l * (right(u2, u3, u4, f2, f3, f4) + left(u3, u4, u5, f3, f4, f5) - right(u1, u2, u3, f1, f2, f3) - left(u2, u3, u4, f2, f3, f4));
}
double changef(double u1, double u2, double u3, double u4, double u5, double f1, double f2, double f3, double f4, double f5) {
  return -0.5 * l * s * (right(u2, u3, u4, f2, f3, f4) - left(u3, u4, u5, f3, f4, f5) - right(u1, u2, u3, f1, f2, f3) + left(u2, u3, u4, f2, f3, f4));
}
CellValue relax (gr, gm, ge) {
  double a = get(r, 0), b = get(m, 0), c = get(e, 0), p = pressure(a, b, c);
  return (get(fr, 0) - stiff * b) / (1 - stiff), (get(fm, 0) - stiff * (b * b / a + p)) / (1 - stiff), (get(fe, 0) - stiff * (b / a * (c + p))) / (1 - stiff);
}
CellValue carry (ra, ma, ea, ha, hb, hc) {
  return get(r, 0) + changeu(get(r, -2), get(r, -1), get(r, 0), get(r, 1), get(r, 2), get(gr, -2), get(gr, -1), get(gr, 0), get(gr, 1), get(gr, 2)),
         get(m, 0) + changeu(get(m, -2), get(m, -1), get(m, 0), get(m, 1), get(m, 2), get(gm, -2), get(gm, -1), get(gm, 0), get(gm, 1), get(gm, 2)),
         get(e, 0) + changeu(get(e, -2), get(e, -1), get(e, 0), get(e, 1), get(e, 2), get(ge, -2), get(ge, -1), get(ge, 0), get(ge, 1), get(ge, 2)),
         get(gr, 0) + changef(get(r, -2), get(r, -1), get(r, 0), get(r, 1), get(r, 2), get(gr, -2), get(gr, -1), get(gr, 0), get(gr, 1), get(gr, 2)),
         get(gm, 0) + changef(get(m, -2), get(m, -1), get(m, 0), get(m, 1), get(m, 2), get(gm, -2), get(gm, -1), get(gm, 0), get(gm, 1), get(gm, 2)),
         get(ge, 0) + changef(get(e, -2), get(e, -1), get(e, 0), get(e, 1), get(e, 2), get(ge, -2), get(ge, -1), get(ge, 0), get(ge, 1), get(ge, 2));
}
# Implicit, with what the first stage was off by once more: v = h - stiff (v - F(u)) - 2 stiff (g - F(old u)).
double drawn(double h, double now, double g, double before) { return (h + stiff * now - 2 * stiff * (g - before)) / (1 + stiff); }
CellValue relaxagain (ha, hb, hc) {
  double a = get(r, 0), b = get(m, 0), c = get(e, 0), p = pressure(a, b, c);
  double na = get(ra, 0), nb = get(ma, 0), nc = get(ea, 0), np = pressure(na, nb, nc);
  return drawn(get(ha, 0), nb, get(gr, 0), b), drawn(get(hb, 0), nb * nb / na + np, get(gm, 0), b * b / a + p),
         drawn(get(hc, 0), nb / na * (nc + np), get(ge, 0), b / a * (c + p));
}
CellValue carryagain (r, m, e, fr, fm, fe) {
  double ur = get(ra, 0) + changeu(get(ra, -2), get(ra, -1), get(ra, 0), get(ra, 1), get(ra, 2), get(ha, -2), get(ha, -1), get(ha, 0), get(ha, 1), get(ha, 2));
  double um = get(ma, 0) + changeu(get(ma, -2), get(ma, -1), get(ma, 0), get(ma, 1), get(ma, 2), get(hb, -2), get(hb, -1), get(hb, 0), get(hb, 1), get(hb, 2));
  double ue = get(ea, 0) + changeu(get(ea, -2), get(ea, -1), get(ea, 0), get(ea, 1), get(ea, 2), get(hc, -2), get(hc, -1), get(hc, 0), get(hc, 1), get(hc, 2));
  double vr = get(ha, 0) + changef(get(ra, -2), get(ra, -1), get(ra, 0), get(ra, 1), get(ra, 2), get(ha, -2), get(ha, -1), get(ha, 0), get(ha, 1), get(ha, 2));
  double vm = get(hb, 0) + changef(get(ma, -2), get(ma, -1), get(ma, 0), get(ma, 1), get(ma, 2), get(hb, -2), get(hb, -1), get(hb, 0), get(hb, 1), get(hb, 2));
  double ve = get(hc, 0) + changef(get(ea, -2), get(ea, -1), get(ea, 0), get(ea, 1), get(ea, 2), get(hc, -2), get(hc, -1), get(hc, 0), get(hc, 1), get(hc, 2));
  return 0.5 * (get(r, 0) + ur), 0.5 * (get(m, 0) + um), 0.5 * (get(e, 0) + ue), 0.5 * (get(fr, 0) + vr), 0.5 * (get(fm, 0) + vm), 0.5 * (get(fe, 0) + ve);
}
