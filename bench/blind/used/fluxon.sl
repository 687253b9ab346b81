# A thin superconductor in a magnetic field that enters as vortices: the complex order parameter (re, im) at the points and the vector potential on the links between them, of whose phases the equations are made; b is the field through each square.
# Source: Gropp, Kaper, Leaf, Levine, Palumbo and Vinokur, "Numerical simulation of vortex dynamics in type-II superconductors" (1996), equations 13 to 20, link variables, forward Euler.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (re, im, ax, ay, b)
Temporary (b)
Short (ax x, ay y, b x y)
ScalarVariables (double applied = 0.6, double kappa = 2, double dt = 0.01)
EdgeValue b x { return applied; }
EdgeValue b y { return applied; }
Stages (curl, step)
DefaultSize (1025, 769)
Steps 20000
InputRange re (-0.7, 0.7)
InputRange im (-0.7, 0.7)
InputRange ax (-0.5, 0.5)
InputRange ay (-0.5, 0.5)
const double h = 0.5;
CellValue curl (b) {
  return (get(ay, 1, 0) - get(ay, 0, 0) - get(ax, 0, 1) + get(ax, 0, 0)) / h;
}
CellValue step (re, im, ax, ay) {
  double r = get(re, 0, 0), i = get(im, 0, 0);
  double cx = cos(kappa * h * get(ax, 0, 0)), sx = sin(kappa * h * get(ax, 0, 0)), cy = cos(kappa * h * get(ay, 0, 0)), sy = sin(kappa * h * get(ay, 0, 0));
  double cw = cos(kappa * h * get(ax, -1, 0)), sw = sin(kappa * h * get(ax, -1, 0)), cs = cos(kappa * h * get(ay, 0, -1)), ss = sin(kappa * h * get(ay, 0, -1));
  double er = cx * get(re, 1, 0) + sx * get(im, 1, 0), ei = cx * get(im, 1, 0) - sx * get(re, 1, 0);
  double nr = cy * get(re, 0, 1) + sy * get(im, 0, 1), ni = cy * get(im, 0, 1) - sy * get(re, 0, 1);
  double lr = 0, li = 0;
  # Nothing leaves through the sample's edge.
  if (x < input_size.x - 1) {
    lr += er - r;
    li += ei - i;
  }
  if (x > 0) {
    lr += cw * get(re, -1, 0) - sw * get(im, -1, 0) - r;
    li += cw * get(im, -1, 0) + sw * get(re, -1, 0) - i;
  }
  if (y < input_size.y - 1) {
    lr += nr - r;
    li += ni - i;
  }
  if (y > 0) {
    lr += cs * get(re, 0, -1) - ss * get(im, 0, -1) - r;
    li += cs * get(im, 0, -1) + ss * get(re, 0, -1) - i;
  }
  double rest = 1 - r * r - i * i;
  return r + dt * (lr / (h * h) + rest * r), i + dt * (li / (h * h) + rest * i),
         get(ax, 0, 0) + dt * ((r * ei - i * er) / h - kappa * kappa * (get(b, 0, 0) - get(b, 0, -1)) / h),
         get(ay, 0, 0) + dt * ((r * ni - i * nr) / h + kappa * kappa * (get(b, 0, 0) - get(b, -1, 0)) / h);
}
