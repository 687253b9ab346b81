# Electrons behind a supernova's shock: how many there are of each energy (x, its logarithm evenly spaced from the rest mass on) in each of many
# zones (y), which do not mix here. Turbulence accelerates them, magnetic fields of the zones make them radiate, and some escape.
# Source: Chang and Cooper, "A practical difference scheme for Fokker-Planck equations" (1970), equations 10 to 18, explicit in time; rates as in
# Park and Petrosian, "Fokker-Planck equations of stochastic acceleration: a study of numerical methods" (1996), with q = 2.
NumDimensions 2
StencilSize (1, 0)
DataType double
Fields (n)
ReadOnly (field[y], injected[x])
DefaultSize (400, 24001)
InputRange n (0, 1)
InputRange field (0.2, 1)
InputRange injected (0, 0.01)
const double h = 0.023;
const double dt = 1;
const double accelerate = 1e-4;
const double radiate = 6e-7;
const double escape = 5000;
double energy(double i) { return exp(h * i); }
double width(double i) { return energy(i + 0.5) - energy(i - 0.5); }
# What flows down through the face at energy i between cells of l and r electrons.
double flux(double i, double l, double r) {
  double g = energy(i);
  double c = accelerate * g * g;
  double b = radiate * get(field, 0) * get(field, 0) * g * g - 2 * accelerate * g;
  double d = energy(i + 0.5) - energy(i - 0.5);
  double w = d * b / c;
  double delta = 0.5 - w / 12;
  if (fabs(w) > 0.001) delta = 1 / w - 1 / (exp(w) - 1);
  return ((1 - delta) * b + c / d) * r - (c / d - delta * b) * l;
}
CellValue {
  double below = 0, above = 0;
  if (x > 0) below = flux(x - 0.5, get(n, -1, 0), get(n, 0, 0));
  if (x < input_size.x - 1) above = flux(x + 0.5, get(n, 0, 0), get(n, 1, 0));
  return get(n, 0, 0) + dt * ((above - below) / width(x) + get(injected, 0) - get(n, 0, 0) / escape);
}
