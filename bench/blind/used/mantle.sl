# Rock that creeps: pressure, velocities and six stresses of Stokes' equations on a staggered grid, of a viscosity that differs from place to place and a weight that
# pulls, brought to rest by accelerated pseudo-transient iterations. Walls let nothing through and slip freely.
# Source: Raess, Utkin, Duretz, Omlin and Podladchikov, "Assessing the robustness and scalability of the accelerated pseudo-transient method" (2022), section 2.4,
# equations 16 to 21; Gerya and Yuen (2003) for where each value lies.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (p, xx, yy, zz, xy, xz, yz, vx, vy, vz)
ReadOnly (mu, rho)
Boundary vx x constant 0
Boundary vy y constant 0
Boundary vz z constant 0
Stages (stress, motion)
DefaultSize (191, 192, 193)
Steps 500
InputRange mu (0.1, 1)
InputRange rho (0, 1)
const double h = 0.1;
const double dt = 0.0012;     # of the velocity
const double gdt = 0.7;       # shear modulus by the step of the stress
const double kdt = 0.9;       # bulk modulus by that of the pressure
double relaxed(double old, double m, double strain) { return (old + 2 * gdt * strain) / (1 + gdt / m); }
double edge(double a, double b, double c, double d) { return 0.25 * (a + b + c + d); }
CellValue stress (p, xx, yy, zz, xy, xz, yz) {
  double us = (get(vx, 1, 0, 0) - get(vx, 0, 0, 0)) / h, vt = (get(vy, 0, 1, 0) - get(vy, 0, 0, 0)) / h, ws = (get(vz, 0, 0, 1) - get(vz, 0, 0, 0)) / h;
  double div = us + vt + ws;
  double m = get(mu, 0, 0, 0);
  double exy = 0.5 * ((get(vx, 0, 0, 0) - get(vx, 0, -1, 0)) + (get(vy, 0, 0, 0) - get(vy, -1, 0, 0))) / h;
  double exz = 0.5 * ((get(vx, 0, 0, 0) - get(vx, 0, 0, -1)) + (get(vz, 0, 0, 0) - get(vz, -1, 0, 0))) / h;
  double eyz = 0.5 * ((get(vy, 0, 0, 0) - get(vy, 0, 0, -1)) + (get(vz, 0, 0, 0) - get(vz, 0, -1, 0))) / h;
  return get(p, 0, 0, 0) - kdt * m * div,
         relaxed(get(xx, 0, 0, 0), m, us - div / 3), relaxed(get(yy, 0, 0, 0), m, vt - div / 3), relaxed(get(zz, 0, 0, 0), m, ws - div / 3),
         relaxed(get(xy, 0, 0, 0), edge(m, get(mu, -1, 0, 0), get(mu, 0, -1, 0), get(mu, -1, -1, 0)), exy),
         relaxed(get(xz, 0, 0, 0), edge(m, get(mu, -1, 0, 0), get(mu, 0, 0, -1), get(mu, -1, 0, -1)), exz),
         relaxed(get(yz, 0, 0, 0), edge(m, get(mu, 0, -1, 0), get(mu, 0, 0, -1), get(mu, 0, -1, -1)), eyz);
}
CellValue motion (vx, vy, vz) {
  double fx = (get(xx, 0, 0, 0) - get(xx, -1, 0, 0)) - (get(p, 0, 0, 0) - get(p, -1, 0, 0)) + (get(xy, 0, 1, 0) - get(xy, 0, 0, 0)) + (get(xz, 0, 0, 1) - get(xz, 0, 0, 0));
  double fy = (get(yy, 0, 0, 0) - get(yy, 0, -1, 0)) - (get(p, 0, 0, 0) - get(p, 0, -1, 0)) + (get(xy, 1, 0, 0) - get(xy, 0, 0, 0)) + (get(yz, 0, 0, 1) - get(yz, 0, 0, 0));
  double fz = (get(zz, 0, 0, 0) - get(zz, 0, 0, -1)) - (get(p, 0, 0, 0) - get(p, 0, 0, -1)) + (get(xz, 1, 0, 0) - get(xz, 0, 0, 0)) + (get(yz, 0, 1, 0) - get(yz, 0, 0, 0));
  return x == 0 ? 0.0 : get(vx, 0, 0, 0) + dt / h * fx, y == 0 ? 0.0 : get(vy, 0, 0, 0) + dt / h * fy,
         z == 0 ? 0.0 : get(vz, 0, 0, 0) + dt * (fz / h + 0.5 * (get(rho, 0, 0, 0) + get(rho, 0, 0, -1)));
}
