# Dye in a box of liquid that moves: velocity on the sides of cells, advected upwind and slowed by viscosity, and the dye in the cells.
# The walls hold the velocity through them, and along them the liquid rests: beyond a wall it is the opposite of that inside.
# Source: Harlow and Welch, "Numerical calculation of time-dependent viscous incompressible flow of fluid with free surface" (1965), for the grid.
NumDimensions 2
StencilSize (1, 1)
DataType double
ScalarVariables (double dt = 0.1, nu = 0.1, kappa = 0.05)
Fields (u, v, c)
Short (u y, v x, c x y)
EdgeValue u y { return -value; }
EdgeValue v x { return -value; }
InputRange u (-0.5, 0.5)
InputRange v (-0.5, 0.5)
InputRange c (0, 1)
Stages (momentum, dye)
double upwind(double speed, double before, double here, double behind) {
  return speed > 0 ? speed * (here - before) : speed * (behind - here);
}
# Not Boundary u x fixed: what v reads would hold a second column of u (tune check says so).
CellValue momentum (u, v) {
  double a = get(u, 0, 0), b = get(v, 0, 0);
  double across = 0.25 * (get(v, -1, 0) + b + get(v, -1, 1) + get(v, 0, 1));
  double along = 0.25 * (get(u, 0, -1) + get(u, 1, -1) + a + get(u, 1, 0));
  double slowed = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * a;
  double du = nu * slowed - upwind(a, get(u, -1, 0), a, get(u, 1, 0)) - upwind(across, get(u, 0, -1), a, get(u, 0, 1));
  slowed = get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1) - 4 * b;
  double dv = nu * slowed - upwind(along, get(v, -1, 0), b, get(v, 1, 0)) - upwind(b, get(v, 0, -1), b, get(v, 0, 1));
  return x == 0 || x == input_size.x - 1 ? a : a + dt * du, y == 0 || y == input_size.y - 1 ? b : b + dt * dv;
}
double through(double speed, double before, double behind) { return speed * (speed > 0 ? before : behind) - kappa * (behind - before); }
double side(int i) { return through(get(u, i, 0), get(c, i - 1, 0), get(c, i, 0)); }
double bottom(int j) { return through(get(v, 0, j), get(c, 0, j - 1), get(c, 0, j)); }
CellValue dye (c) { return get(c, 0, 0) - dt * (side(1) - side(0) + bottom(1) - bottom(0)); }
