# Storms and jets of an ocean of two layers in a channel around the pole: what is conserved of each (q, potential vorticity, less what the latitude gives) and its stream function
# (p). The upper layer flows eastward in the mean, which makes storms; the bottom rubs. Adams and Bashforth's step, then two sweeps of red-black overrelaxation for both stream functions
# at once. It repeats along x; on the walls nothing changes. Lengths are deformation radii, speeds that of the upper layer.
# Source: Phillips, "Energy transfer associated with infinitesimal disturbances in a two-layer, quasi-geostrophic model" (1951); Haidvogel and Held, "Homogeneous quasi-geostrophic
# turbulence driven by a uniform temperature gradient" (1980); Arakawa, "Computational design for long-term numerical integration of the equations of fluid motion" (1966).
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (qa, qb, pa, pb, fa, fb)
ScalarVariables (double beta = 0.25, double drag = 0.1)
Boundary (wrap, fixed)
Stages (motion, red, black, redagain, blackagain)
Color red (x + y) % 2 == 0
Color black (x + y) % 2 == 1
Color redagain (x + y) % 2 == 0
Color blackagain (x + y) % 2 == 1
DefaultSize (2000, 751)
Steps 20000
InputRange qa (-1, 1)
InputRange qb (-1, 1)
InputRange pa (-0.1, 0.1)
InputRange pb (-0.1, 0.1)
InputRange fa (-1, 1)
InputRange fb (-1, 1)
const double h = 0.2;
const double dt = 0.004;
const double mixes = 0.02;
const double stretch = 0.5;    # of either layer: they are equally deep
const double over = 1.6;
# Arakawa's bracket of stream function and vorticity of the upper and of the lower layer.
double brackets(double pw, double pe, double ps, double pn, double psw, double pse, double pnw, double pne,
    double qw, double qe, double qs, double qn, double qsw, double qse, double qnw, double qne) {
  double one = (pe - pw) * (qn - qs) - (pn - ps) * (qe - qw);
  double two = pe * (qne - qse) - pw * (qnw - qsw) - pn * (qne - qnw) + ps * (qse - qsw);
  double three = pne * (qn - qe) - psw * (qw - qs) - pnw * (qn - qw) + pse * (qe - qs);
  return (one + two + three) / (12 * h * h);
}
double slope(double w, double e) { return (e - w) / (2 * h); }
double bend(double c, double w, double e, double s, double n) { return (w + e + s + n - 4 * c) / (h * h); }
CellValue motion (qa, qb, fa, fb) {
  double newa = mixes * bend(get(qa, 0, 0), get(qa, -1, 0), get(qa, 1, 0), get(qa, 0, -1), get(qa, 0, 1))
      - brackets(get(pa, -1, 0), get(pa, 1, 0), get(pa, 0, -1), get(pa, 0, 1), get(pa, -1, -1), get(pa, 1, -1), get(pa, -1, 1), get(pa, 1, 1),
          get(qa, -1, 0), get(qa, 1, 0), get(qa, 0, -1), get(qa, 0, 1), get(qa, -1, -1), get(qa, 1, -1), get(qa, -1, 1), get(qa, 1, 1))
      - slope(get(qa, -1, 0), get(qa, 1, 0)) - (beta + stretch) * slope(get(pa, -1, 0), get(pa, 1, 0));
  double newb = mixes * bend(get(qb, 0, 0), get(qb, -1, 0), get(qb, 1, 0), get(qb, 0, -1), get(qb, 0, 1))
      - brackets(get(pb, -1, 0), get(pb, 1, 0), get(pb, 0, -1), get(pb, 0, 1), get(pb, -1, -1), get(pb, 1, -1), get(pb, -1, 1), get(pb, 1, 1),
          get(qb, -1, 0), get(qb, 1, 0), get(qb, 0, -1), get(qb, 0, 1), get(qb, -1, -1), get(qb, 1, -1), get(qb, -1, 1), get(qb, 1, 1))
      - (beta - stretch) * slope(get(pb, -1, 0), get(pb, 1, 0)) - drag * bend(get(pb, 0, 0), get(pb, -1, 0), get(pb, 1, 0), get(pb, 0, -1), get(pb, 0, 1));
  return get(qa, 0, 0) + dt * (1.5 * newa - 0.5 * get(fa, 0, 0)), get(qb, 0, 0) + dt * (1.5 * newb - 0.5 * get(fb, 0, 0)), newa, newb;
}
# Both stream functions of a cell, of which each is asked for by the other: bend(pa) + stretch * (pb - pa) = qa, bend(pb) + stretch * (pa - pb) = qb.
double relaxed(double old, double own, double other) {
  double c = 4 / (h * h) + stretch;
  return old + over * ((c * own + stretch * other) / (c * c - stretch * stretch) - old);
}
double asked(double q, double w, double e, double s, double n) { return (w + e + s + n) / (h * h) - q; }
double upper() { return asked(get(qa, 0, 0), get(pa, -1, 0), get(pa, 1, 0), get(pa, 0, -1), get(pa, 0, 1)); }
double lower() { return asked(get(qb, 0, 0), get(pb, -1, 0), get(pb, 1, 0), get(pb, 0, -1), get(pb, 0, 1)); }
CellValue red (pa, pb) { return relaxed(get(pa, 0, 0), upper(), lower()), relaxed(get(pb, 0, 0), lower(), upper()); }
CellValue black (pa, pb) { return relaxed(get(pa, 0, 0), upper(), lower()), relaxed(get(pb, 0, 0), lower(), upper()); }
CellValue redagain (pa, pb) { return relaxed(get(pa, 0, 0), upper(), lower()), relaxed(get(pb, 0, 0), lower(), upper()); }
CellValue blackagain (pa, pb) { return relaxed(get(pa, 0, 0), upper(), lower()), relaxed(get(pb, 0, 0), lower(), upper()); }
