# Cosmic strings in the early universe, while radiation rules it: a complex field that rolls into the valley of its potential all but at the strings,
# and its rate of change by conformal time; strings as wide as they were in comoving coordinates. Fourth order in space, leapfrog in time.
# Source: Press, Ryden and Spergel, "Dynamical evolution of domain walls in an expanding universe" (1989), equations 5 and 6 with alpha = 3 and beta = 0, for
# the two components of Yamaguchi, "Scaling property of the global string in the radiation dominated universe" (1999).
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (a, b, pa, pb)
Boundary wrap
DefaultSize (480, 480, 480)
InputRange pa (-0.1, 0.1)
InputRange pb (-0.1, 0.1)
const float dt = 0.25;
const float begin = 10;
const float lambda = 0.8;
float lapa() {
  float near = get(a, -1, 0, 0) + get(a, 1, 0, 0) + get(a, 0, -1, 0) + get(a, 0, 1, 0) + get(a, 0, 0, -1) + get(a, 0, 0, 1);
  float far = get(a, -2, 0, 0) + get(a, 2, 0, 0) + get(a, 0, -2, 0) + get(a, 0, 2, 0) + get(a, 0, 0, -2) + get(a, 0, 0, 2);
  return (16 * near - far - 90 * get(a, 0, 0, 0)) / 12;
}
float lapb() {
  float near = get(b, -1, 0, 0) + get(b, 1, 0, 0) + get(b, 0, -1, 0) + get(b, 0, 1, 0) + get(b, 0, 0, -1) + get(b, 0, 0, 1);
  float far = get(b, -2, 0, 0) + get(b, 2, 0, 0) + get(b, 0, -2, 0) + get(b, 0, 2, 0) + get(b, 0, 0, -2) + get(b, 0, 0, 2);
  return (16 * near - far - 90 * get(b, 0, 0, 0)) / 12;
}
CellValue {
  float delta = 0.5 * 3 * dt / (begin + iteration * dt);
  float slope = lambda * (get(a, 0, 0, 0) * get(a, 0, 0, 0) + get(b, 0, 0, 0) * get(b, 0, 0, 0) - 1);
  float newpa = ((1 - delta) * get(pa, 0, 0, 0) + dt * (lapa() - slope * get(a, 0, 0, 0))) / (1 + delta);
  float newpb = ((1 - delta) * get(pb, 0, 0, 0) + dt * (lapb() - slope * get(b, 0, 0, 0))) / (1 + delta);
  return get(a, 0, 0, 0) + dt * newpa, get(b, 0, 0, 0) + dt * newpb, newpa, newpb;
}
