# Turbulence at a tokamak's edge: density n and vorticity w of drift waves, which their potential phi carries by Arakawa's bracket and which couple along the magnetic field. Adams and Bashforth's step; the potential is relaxed from that of the step before, red and black.
# Source: Hasegawa and Wakatani, "Plasma edge turbulence" (1983), equations 1 and 2; Arakawa, "Computational design for long-term numerical integration of the equations of fluid motion" (1966), equation 46; BOUT++'s example hasegawa-wakatani.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (n, w, phi, rn, rw, ln, lw)
Temporary (ln, lw)
ScalarVariables (double alpha = 1, double kappa = 0.5, double dt = 0.001)
Boundary wrap
Stages (smooth, move, red, black)
Color red (x + y) % 2 == 0
Color black (x + y) % 2 == 1
DefaultSize (1300, 1026)
Steps 2000
InputRange phi (-0.2, 0.2)
InputRange n (-0.5, 0.5)
InputRange w (-0.5, 0.5)
InputRange rn (-2, 2)
InputRange rw (-2, 2)
const double h = 0.15;
const double nu = 1e-5;
CellValue smooth (ln, lw) {
  return (get(n, -1, 0) + get(n, 1, 0) + get(n, 0, -1) + get(n, 0, 1) - 4 * get(n, 0, 0)) / (h * h),
         (get(w, -1, 0) + get(w, 1, 0) + get(w, 0, -1) + get(w, 0, 1) - 4 * get(w, 0, 0)) / (h * h);
}
CellValue move (n, w, rn, rw) {
  double pe = get(phi, 1, 0), pw = get(phi, -1, 0), pn = get(phi, 0, 1), ps = get(phi, 0, -1);
  double pne = get(phi, 1, 1), pnw = get(phi, -1, 1), pse = get(phi, 1, -1), psw = get(phi, -1, -1);
  double ne = get(n, 1, 0), nw = get(n, -1, 0), nn = get(n, 0, 1), ns = get(n, 0, -1);
  double we = get(w, 1, 0), ww = get(w, -1, 0), wn = get(w, 0, 1), ws = get(w, 0, -1);
  double bn = (pe - pw) * (nn - ns) - (pn - ps) * (ne - nw)
    + pe * (get(n, 1, 1) - get(n, 1, -1)) - pw * (get(n, -1, 1) - get(n, -1, -1)) - pn * (get(n, 1, 1) - get(n, -1, 1)) + ps * (get(n, 1, -1) - get(n, -1, -1))
    + nn * (pne - pnw) - ns * (pse - psw) - ne * (pne - pse) + nw * (pnw - psw);
  double bw = (pe - pw) * (wn - ws) - (pn - ps) * (we - ww)
    + pe * (get(w, 1, 1) - get(w, 1, -1)) - pw * (get(w, -1, 1) - get(w, -1, -1)) - pn * (get(w, 1, 1) - get(w, -1, 1)) + ps * (get(w, 1, -1) - get(w, -1, -1))
    + wn * (pne - pnw) - ws * (pse - psw) - we * (pne - pse) + ww * (pnw - psw);
  double along = alpha * (get(phi, 0, 0) - get(n, 0, 0));
  double l4n = (get(ln, -1, 0) + get(ln, 1, 0) + get(ln, 0, -1) + get(ln, 0, 1) - 4 * get(ln, 0, 0)) / (h * h);
  double l4w = (get(lw, -1, 0) + get(lw, 1, 0) + get(lw, 0, -1) + get(lw, 0, 1) - 4 * get(lw, 0, 0)) / (h * h);
  double dn = along - bn / (12 * h * h) - kappa * (pn - ps) / (2 * h) - nu * l4n;
  double dw = along - bw / (12 * h * h) - nu * l4w;
  return get(n, 0, 0) + dt * (1.5 * dn - 0.5 * get(rn, 0, 0)), get(w, 0, 0) + dt * (1.5 * dw - 0.5 * get(rw, 0, 0)), dn, dw;
}
double relaxed() {
  return 0.25 * (get(phi, -1, 0) + get(phi, 1, 0) + get(phi, 0, -1) + get(phi, 0, 1) - h * h * get(w, 0, 0));
}
CellValue red (phi) { return relaxed(); }
CellValue black (phi) { return relaxed(); }
