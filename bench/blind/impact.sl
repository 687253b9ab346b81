# Aluminium that yields under the waves of an impact, in the plane, between walls that hold still: velocities (u, v) at the corners of cells, in the cells how much they swell (n),
# pressure with artificial viscosity (p), deviators of the stress (a along x, b along y, c across), which are scaled back to von Mises's circle, and how far the metal has flowed (f).
# Units cm, microsecond and Mbar. The mesh stays, strains being small; a filter takes the hourglass shapes away, of which cells know nothing.
# Source: Wilkins, "Calculation of elastic-plastic flow" (1964), with his aluminium, here with linear hardening; the hourglass as Maenchen and Sack, "The TENSOR code" (1964).
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (u, v, n, p, a, b, c, f)
Short (u x y, v x y)
Boundary clamp
Boundary u constant 0
Boundary v constant 0
Stages (motion, stress)
DefaultSize (4005, 3003)
Steps 3000
InputRange u (-0.005, 0.005)
InputRange v (-0.005, 0.005)
InputRange n (0.99, 1.01)
InputRange p (-0.007, 0.007)
InputRange a (-0.001, 0.001)
InputRange b (-0.001, 0.001)
InputRange c (-0.001, 0.001)
InputRange f (0, 0.02)
const double l = 0.5;            # time step over mesh width
const double density = 2.7;
const double shear = 0.248;
const double yields = 0.0029765;
const double hardens = 0.003;
const double filter = 0.00625;
CellValue motion (u, v) {
  double xx = get(a, 1, 0) - get(p, 1, 0) + get(a, 1, 1) - get(p, 1, 1) - get(a, 0, 0) + get(p, 0, 0) - get(a, 0, 1) + get(p, 0, 1);
  double yy = get(b, 0, 1) - get(p, 0, 1) + get(b, 1, 1) - get(p, 1, 1) - get(b, 0, 0) + get(p, 0, 0) - get(b, 1, 0) + get(p, 1, 0);
  double main = get(c, 1, 1) - get(c, 0, 0), anti = get(c, 1, 0) - get(c, 0, 1);
  double hu = get(u, -1, -1) + get(u, 1, -1) + get(u, -1, 1) + get(u, 1, 1) - 2 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1)) + 4 * get(u, 0, 0);
  double hv = get(v, -1, -1) + get(v, 1, -1) + get(v, -1, 1) + get(v, 1, 1) - 2 * (get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1)) + 4 * get(v, 0, 0);
  return get(u, 0, 0) + 0.5 * l / density * (xx + main - anti) - filter * hu, get(v, 0, 0) + 0.5 * l / density * (yy + main + anti) - filter * hv;
}
CellValue stress (n, p, a, b, c, f) {
  double ux = 0.5 * l * (get(u, 0, 0) + get(u, 0, -1) - get(u, -1, 0) - get(u, -1, -1)), uy = 0.5 * l * (get(u, 0, 0) + get(u, -1, 0) - get(u, 0, -1) - get(u, -1, -1));
  double vx = 0.5 * l * (get(v, 0, 0) + get(v, 0, -1) - get(v, -1, 0) - get(v, -1, -1)), vy = 0.5 * l * (get(v, 0, 0) + get(v, -1, 0) - get(v, 0, -1) - get(v, -1, -1));
  double swells = ux + vy, turns = 0.5 * (vx - uy);
  double sx = get(a, 0, 0) + 2 * shear * (ux - swells / 3) - 2 * turns * get(c, 0, 0);
  double sy = get(b, 0, 0) + 2 * shear * (vy - swells / 3) + 2 * turns * get(c, 0, 0);
  double sxy = get(c, 0, 0) + shear * (uy + vx) + turns * (get(a, 0, 0) - get(b, 0, 0));
  double sz = -sx - sy;
  double mises = sqrt(1.5 * (sx * sx + sy * sy + sz * sz) + 3 * sxy * sxy);
  double bears = yields + hardens * get(f, 0, 0);
  double back = bears / max(mises, bears);
  double volume = get(n, 0, 0) * (1 + swells);
  double dense = 1 / volume, more = dense - 1;
  double pressure = more * (0.73 + more * (1.72 + 0.4 * more));
  double sound = sqrt(max(0.73 + more * (3.44 + 1.2 * more), 0.1) / density);
  double closes = max(-swells / l, 0);
  double viscous = density * dense * closes * (4 * closes + 0.5 * sound);
  return volume, pressure + viscous, back * sx, back * sy, back * sxy, get(f, 0, 0) + (1 - back) * mises / (3 * shear);
}
