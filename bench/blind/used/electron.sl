# An electron of a film in real time: its wave function by four terms of the exponential of its Hamiltonian, a Laplacian of 25 points.
# Source: Yabana and Bertsch, "Time-dependent local-density approximation in real time" (1996), section II, in a potential that is given.
NumDimensions 3
StencilSize (4, 4, 4)
DataType double
Fields (re, im, r, i)
ReadOnly (v)
Temporary (r, i)
Boundary (wrap, wrap, constant 0)
Stages (first, second, third, fourth)
DefaultSize (176, 180, 163)
InputRange v (-1, 0)
const double dt = 0.15;
const double w[5] = {-205.0 / 72, 1.6, -0.2, 8.0 / 315, -1.0 / 560};
double hre() {
  double lap = 3 * w[0] * get(re, 0, 0, 0);
  for (int k = 1; k <= 4; k++)
    lap += w[k] * (get(re, -k, 0, 0) + get(re, k, 0, 0) + get(re, 0, -k, 0) + get(re, 0, k, 0) + get(re, 0, 0, -k) + get(re, 0, 0, k));
  return get(v, 0, 0, 0) * get(re, 0, 0, 0) - 0.5 * lap;
}
double him() {
  double lap = 3 * w[0] * get(im, 0, 0, 0);
  for (int k = 1; k <= 4; k++)
    lap += w[k] * (get(im, -k, 0, 0) + get(im, k, 0, 0) + get(im, 0, -k, 0) + get(im, 0, k, 0) + get(im, 0, 0, -k) + get(im, 0, 0, k));
  return get(v, 0, 0, 0) * get(im, 0, 0, 0) - 0.5 * lap;
}
double hr() {
  double lap = 3 * w[0] * get(r, 0, 0, 0);
  for (int k = 1; k <= 4; k++)
    lap += w[k] * (get(r, -k, 0, 0) + get(r, k, 0, 0) + get(r, 0, -k, 0) + get(r, 0, k, 0) + get(r, 0, 0, -k) + get(r, 0, 0, k));
  return get(v, 0, 0, 0) * get(r, 0, 0, 0) - 0.5 * lap;
}
double hi() {
  double lap = 3 * w[0] * get(i, 0, 0, 0);
  for (int k = 1; k <= 4; k++)
    lap += w[k] * (get(i, -k, 0, 0) + get(i, k, 0, 0) + get(i, 0, -k, 0) + get(i, 0, k, 0) + get(i, 0, 0, -k) + get(i, 0, 0, k));
  return get(v, 0, 0, 0) * get(i, 0, 0, 0) - 0.5 * lap;
}
CellValue first (r, i, re, im) {
  double p = dt * him(), q = -dt * hre();
  return p, q, get(re, 0, 0, 0) + p, get(im, 0, 0, 0) + q;
}
CellValue second (r, i, re, im) {
  double p = dt / 2 * hi(), q = -dt / 2 * hr();
  return p, q, get(re, 0, 0, 0) + p, get(im, 0, 0, 0) + q;
}
CellValue third (r, i, re, im) {
  double p = dt / 3 * hi(), q = -dt / 3 * hr();
  return p, q, get(re, 0, 0, 0) + p, get(im, 0, 0, 0) + q;
}
CellValue fourth (re, im) {
  return get(re, 0, 0, 0) + dt / 4 * hi(), get(im, 0, 0, 0) - dt / 4 * hr();
}
