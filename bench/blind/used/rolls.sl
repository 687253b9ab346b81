# A fluid between a hot wall below and a cold one above, both slippery: vorticity w, stream function s and temperature t.
# Source: Saltzman, "Finite amplitude free convection as an initial value problem" (1962); the Jacobian of Arakawa (1966) that keeps energy
# and enstrophy; Mallinson and de Vahl Davis, "The method of the false transient" (1973), for the stream function.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (t, w, s)
Boundary (wrap, clamp)
EdgeValue w y { return -value; }
EdgeValue s y { return -value; }
EdgeValue t y low { return 1 - value; }
EdgeValue t y high { return -1 - value; }
Stages (carry, turn)
DefaultSize (4100, 1999)
InputRange (-0.5, 0.5)
const double dt = 0.2;
double spread(double c, double l, double r, double b, double a) { return l + r + b + a - 4 * c; }
double carried(double l, double r, double b, double a, double lb, double rb, double la, double ra) {
  double sl = get(s, -1, 0), sr = get(s, 1, 0), sb = get(s, 0, -1), sa = get(s, 0, 1);
  return ((sr - sl) * (a - b) - (sa - sb) * (r - l) + sr * (ra - rb) - sl * (la - lb) - sa * (ra - la) + sb * (rb - lb) +
          get(s, 1, 1) * (a - r) - get(s, -1, -1) * (l - b) - get(s, -1, 1) * (a - l) + get(s, 1, -1) * (r - b)) / 12;
}
CellValue carry (t, w) {
  double l = get(t, -1, 0), r = get(t, 1, 0), b = get(t, 0, -1), a = get(t, 0, 1);
  double k = get(w, -1, 0), e = get(w, 1, 0), d = get(w, 0, -1), u = get(w, 0, 1);
  double heat = carried(l, r, b, a, get(t, -1, -1), get(t, 1, -1), get(t, -1, 1), get(t, 1, 1));
  double spin = carried(k, e, d, u, get(w, -1, -1), get(w, 1, -1), get(w, -1, 1), get(w, 1, 1));
  return get(t, 0, 0) + dt * (0.3 * spread(get(t, 0, 0), l, r, b, a) - heat),
         get(w, 0, 0) + dt * (0.21 * spread(get(w, 0, 0), k, e, d, u) + 0.05 * (r - l) - spin);
}
CellValue turn (s) { return get(s, 0, 0) + 0.2 * (spread(get(s, 0, 0), get(s, -1, 0), get(s, 1, 0), get(s, 0, -1), get(s, 0, 1)) - get(w, 0, 0)); }
