# Sea ice that winds and currents drive in a channel around the pole, elastic, viscous and plastic: three stresses in the cells, of thickness h (m)
# of which a part a is covered, and velocities (m/s) at their corners; a row of corners less. The ice sticks to the coasts.
# Source: Hunke and Dukowicz, "An elastic-viscous-plastic model for sea ice dynamics" (1997), section 2, in the plane, with the strength of Hibler,
# "A dynamic thermodynamic sea ice model" (1979); drag and Coriolis' force implicit as in Hunke (2001), "Viscous-plastic sea ice dynamics with the EVP model".
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (s1, s2, s12, u, v)
ReadOnly (h, a, windx, windy, waterx, watery)
Short (u y, v y)
Boundary (wrap, clamp)
Boundary u y constant 0
Boundary v y constant 0
Stages (stress, motion)
DefaultSize (1442, 1021)
Steps 120
InputRange s1 (-10000, 0)
InputRange s2 (-5000, 5000)
InputRange s12 (-2000, 2000)
InputRange u (-0.3, 0.3)
InputRange v (-0.3, 0.3)
InputRange h (0, 3)
InputRange a (0.7, 1)
InputRange windx (-0.2, 0.2)
InputRange windy (-0.2, 0.2)
InputRange waterx (-0.1, 0.1)
InputRange watery (-0.1, 0.1)
const double dx = 25000;
const double dt = 30;
const double damping = 1296;     # seconds
const double ee = 4;             # the square of the yield curve's eccentricity
const double coriolis = 1.4e-4;
const double rho = 917;
const double drag = 0.0055 * 1026;
CellValue stress (s1, s2, s12) {
  double une = get(u, 0, 0), unw = get(u, -1, 0), use = get(u, 0, -1), usw = get(u, -1, -1);
  double vne = get(v, 0, 0), vnw = get(v, -1, 0), vse = get(v, 0, -1), vsw = get(v, -1, -1);
  double ux = 0.5 * (une + use - unw - usw) / dx, uy = 0.5 * (une + unw - use - usw) / dx;
  double vx = 0.5 * (vne + vse - vnw - vsw) / dx, vy = 0.5 * (vne + vnw - vse - vsw) / dx;
  double divergence = ux + vy, tension = ux - vy, shear = uy + vx;
  double delta = sqrt(divergence * divergence + (tension * tension + shear * shear) / ee);
  double p = 27500 * get(h, 0, 0) * exp(-20 * (1 - get(a, 0, 0)));
  double viscous = p / max(delta, 1e-11);
  double k = dt / (2 * damping);
  return (get(s1, 0, 0) + k * (viscous * divergence - p)) / (1 + k),
         (get(s2, 0, 0) + k * viscous * tension) / (1 + k * ee),
         (get(s12, 0, 0) + 0.5 * k * viscous * shear) / (1 + k * ee);
}
double along(int i, int j) { return 0.5 * (get(s1, i, j) + get(s2, i, j)); }
double upward(int i, int j) { return 0.5 * (get(s1, i, j) - get(s2, i, j)); }
CellValue motion (u, v) {
  double cover = 0.25 * (get(a, 0, 0) + get(a, 1, 0) + get(a, 0, 1) + get(a, 1, 1));
  double mass = 0.25 * rho * (get(h, 0, 0) + get(h, 1, 0) + get(h, 0, 1) + get(h, 1, 1));
  if (mass < 10) return 0, 0;
  double fx = 0.5 * (along(1, 0) + along(1, 1) - along(0, 0) - along(0, 1) + get(s12, 0, 1) + get(s12, 1, 1) - get(s12, 0, 0) - get(s12, 1, 0)) / dx;
  double fy = 0.5 * (get(s12, 1, 0) + get(s12, 1, 1) - get(s12, 0, 0) - get(s12, 0, 1) + upward(0, 1) + upward(1, 1) - upward(0, 0) - upward(1, 0)) / dx;
  double wu = get(waterx, 0, 0) - get(u, 0, 0), wv = get(watery, 0, 0) - get(v, 0, 0);
  double rub = cover * drag * sqrt(wu * wu + wv * wv);
  double cx = mass / dt * get(u, 0, 0) + fx + cover * get(windx, 0, 0) + rub * get(waterx, 0, 0);
  double cy = mass / dt * get(v, 0, 0) + fy + cover * get(windy, 0, 0) + rub * get(watery, 0, 0);
  double ca = mass / dt + rub, cb = mass * coriolis;
  return (ca * cx + cb * cy) / (ca * ca + cb * cb), (ca * cy - cb * cx) / (ca * ca + cb * cb);
}
