# Turbulence between two plates, large eddies only: velocities on the cells' faces (u and v on the lower ones along x and y, w on the higher ones along z, a layer less), which
# Smagorinsky's viscosity damps, less near the plates; Adams and Bashforth's step, then two sweeps of red-black overrelaxation for the pressure, which takes divergence away.
# A steady force drives it along x; it repeats along x and y. Lengths are half the distance of the plates, speeds the friction velocity.
# Source: Harlow and Welch, "Numerical calculation of time-dependent viscous incompressible flow of fluid with free surface" (1965), the grid; Chorin, "Numerical solution of the
# Navier-Stokes equations" (1968); Moin and Kim, "Numerical investigation of turbulent channel flow" (1982), with van Driest's damping of Smagorinsky's (1963) viscosity.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (u, v, w, p, fu, fv, fw, nu)
Temporary (nu)
ScalarVariables (double reynolds = 180, double dt = 0.0005)
Short (w z, fw z)
Boundary (wrap, wrap, clamp)
Boundary w z constant 0
EdgeValue u z { return -value; }
EdgeValue v z { return -value; }
Stages (viscosity, motion, red, black, redagain, blackagain, projection)
Color red (x + y + z) % 2 == 0
Color black (x + y + z) % 2 == 1
Color redagain (x + y + z) % 2 == 0
Color blackagain (x + y + z) % 2 == 1
DefaultSize (256, 192, 130)
Steps 5000
InputRange u (0, 15)
InputRange (-1, 1)
const double dx = 0.049;
const double dy = 0.0218;
const double dz = 0.015384615384615385;
const double over = 1.5;
CellValue viscosity (nu) {
  double exx = (get(u, 1, 0, 0) - get(u, 0, 0, 0)) / dx, eyy = (get(v, 0, 1, 0) - get(v, 0, 0, 0)) / dy, ezz = (get(w, 0, 0, 0) - get(w, 0, 0, -1)) / dz;
  double uy = 0.25 * (get(u, 0, 1, 0) + get(u, 1, 1, 0) - get(u, 0, -1, 0) - get(u, 1, -1, 0)) / dy;
  double vx = 0.25 * (get(v, 1, 0, 0) + get(v, 1, 1, 0) - get(v, -1, 0, 0) - get(v, -1, 1, 0)) / dx;
  double uz = 0.25 * (get(u, 0, 0, 1) + get(u, 1, 0, 1) - get(u, 0, 0, -1) - get(u, 1, 0, -1)) / dz;
  double wx = 0.25 * (get(w, 1, 0, 0) + get(w, 1, 0, -1) - get(w, -1, 0, 0) - get(w, -1, 0, -1)) / dx;
  double vz = 0.25 * (get(v, 0, 0, 1) + get(v, 0, 1, 1) - get(v, 0, 0, -1) - get(v, 0, 1, -1)) / dz;
  double wy = 0.25 * (get(w, 0, 1, 0) + get(w, 0, 1, -1) - get(w, 0, -1, 0) - get(w, 0, -1, -1)) / dy;
  double ss = 2 * (exx * exx + eyy * eyy + ezz * ezz) + (uy + vx) * (uy + vx) + (uz + wx) * (uz + wx) + (vz + wy) * (vz + wy);
  double wall = (min(z, input_size.z - 1 - z) + 0.5) * dz * reynolds;
  double mixing = 0.1 * cbrt(dx * dy * dz) * (1 - exp(-wall / 25));
  return 1 / reynolds + mixing * mixing * sqrt(ss);
}
# Stresses in the cells, and along edges: at the lower faces along x and y, the higher ones along z.
double txx(int i) { return 2 * get(nu, i, 0, 0) * (get(u, i + 1, 0, 0) - get(u, i, 0, 0)) / dx; }
double tyy(int j) { return 2 * get(nu, 0, j, 0) * (get(v, 0, j + 1, 0) - get(v, 0, j, 0)) / dy; }
double tzz(int k) { return 2 * get(nu, 0, 0, k) * (get(w, 0, 0, k) - get(w, 0, 0, k - 1)) / dz; }
double txy(int i, int j) {
  double n = 0.25 * (get(nu, i, j, 0) + get(nu, i - 1, j, 0) + get(nu, i, j - 1, 0) + get(nu, i - 1, j - 1, 0));
  return n * ((get(u, i, j, 0) - get(u, i, j - 1, 0)) / dy + (get(v, i, j, 0) - get(v, i - 1, j, 0)) / dx);
}
double txz(int i, int k) {
  double n = 0.25 * (get(nu, i, 0, k) + get(nu, i - 1, 0, k) + get(nu, i, 0, k + 1) + get(nu, i - 1, 0, k + 1));
  return n * ((get(u, i, 0, k + 1) - get(u, i, 0, k)) / dz + (get(w, i, 0, k) - get(w, i - 1, 0, k)) / dx);
}
double tyz(int j, int k) {
  double n = 0.25 * (get(nu, 0, j, k) + get(nu, 0, j - 1, k) + get(nu, 0, j, k + 1) + get(nu, 0, j - 1, k + 1));
  return n * ((get(v, 0, j, k + 1) - get(v, 0, j, k)) / dz + (get(w, 0, j, k) - get(w, 0, j - 1, k)) / dy);
}
# Momentum that is carried, in the cells and along the same edges.
double cxx(int i) { return 0.25 * (get(u, i, 0, 0) + get(u, i + 1, 0, 0)) * (get(u, i, 0, 0) + get(u, i + 1, 0, 0)); }
double cyy(int j) { return 0.25 * (get(v, 0, j, 0) + get(v, 0, j + 1, 0)) * (get(v, 0, j, 0) + get(v, 0, j + 1, 0)); }
double czz(int k) { return 0.25 * (get(w, 0, 0, k - 1) + get(w, 0, 0, k)) * (get(w, 0, 0, k - 1) + get(w, 0, 0, k)); }
double cxy(int i, int j) { return 0.25 * (get(u, i, j - 1, 0) + get(u, i, j, 0)) * (get(v, i - 1, j, 0) + get(v, i, j, 0)); }
double cxz(int i, int k) { return 0.25 * (get(u, i, 0, k) + get(u, i, 0, k + 1)) * (get(w, i - 1, 0, k) + get(w, i, 0, k)); }
double cyz(int j, int k) { return 0.25 * (get(v, 0, j, k) + get(v, 0, j, k + 1)) * (get(w, 0, j - 1, k) + get(w, 0, j, k)); }
CellValue motion (u, v, w, fu, fv, fw) {
  double xy = txy(0, 0) - cxy(0, 0), xz = txz(0, 0) - cxz(0, 0), yz = tyz(0, 0) - cyz(0, 0);
  double newu = 1 + (txx(0) - cxx(0) - txx(-1) + cxx(-1)) / dx + (txy(0, 1) - cxy(0, 1) - xy) / dy + (xz - txz(0, -1) + cxz(0, -1)) / dz;
  double newv = (txy(1, 0) - cxy(1, 0) - xy) / dx + (tyy(0) - cyy(0) - tyy(-1) + cyy(-1)) / dy + (yz - tyz(0, -1) + cyz(0, -1)) / dz;
  double neww = (txz(1, 0) - cxz(1, 0) - xz) / dx + (tyz(1, 0) - cyz(1, 0) - yz) / dy + (tzz(1) - czz(1) - tzz(0) + czz(0)) / dz;
  return get(u, 0, 0, 0) + dt * (1.5 * newu - 0.5 * get(fu, 0, 0, 0)), get(v, 0, 0, 0) + dt * (1.5 * newv - 0.5 * get(fv, 0, 0, 0)),
         get(w, 0, 0, 0) + dt * (1.5 * neww - 0.5 * get(fw, 0, 0, 0)), newu, newv, neww;
}
double relaxed() {
  double c = get(p, 0, 0, 0);
  double flow = (get(u, 1, 0, 0) - get(u, 0, 0, 0)) / dx + (get(v, 0, 1, 0) - get(v, 0, 0, 0)) / dy + (get(w, 0, 0, 0) - get(w, 0, 0, -1)) / dz;
  double around = (get(p, -1, 0, 0) + get(p, 1, 0, 0) - 2 * c) / (dx * dx) + (get(p, 0, -1, 0) + get(p, 0, 1, 0) - 2 * c) / (dy * dy)
      + (get(p, 0, 0, -1) + get(p, 0, 0, 1) - 2 * c) / (dz * dz);
  double weigh = 2 / (dx * dx) + 2 / (dy * dy) + ((z > 0) + (z < input_size.z - 1)) / (dz * dz);
  return c + over * (around - flow / dt) / weigh;
}
CellValue red (p) { return relaxed(); }
CellValue black (p) { return relaxed(); }
CellValue redagain (p) { return relaxed(); }
CellValue blackagain (p) { return relaxed(); }
CellValue projection (u, v, w) {
  return get(u, 0, 0, 0) - dt / dx * (get(p, 0, 0, 0) - get(p, -1, 0, 0)), get(v, 0, 0, 0) - dt / dy * (get(p, 0, 0, 0) - get(p, 0, -1, 0)),
         get(w, 0, 0, 0) - dt / dz * (get(p, 0, 0, 1) - get(p, 0, 0, 0));
}
