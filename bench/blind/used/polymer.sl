# Two polymers that part: the share of one, between 0 and 1, its chemical potential of mixing (Flory and Huggins, with their logarithms) and a mobility that vanishes
# where there is one alone. The volume repeats along x and y; walls above and below, of which the lower likes the first.
# Source: de Gennes, "Dynamics of fluctuations and spinodal decomposition in polymer blends" (1980), equations 1 to 8; Brown and Chakrabarti (1993) for its numbers.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (c, mu)
Temporary (mu)
Boundary (wrap, wrap, mirror)
Stages (potential, motion)
DefaultSize (256, 288, 200)
Steps 2000
InputRange c (0.05, 0.95)
const float chi = 0.03;
const float na = 100;
const float nb = 80;
const float dt = 0.4;
CellValue potential (mu) {
  float u = min(max(get(c, 0, 0, 0), 0.00001), 0.99999);
  float lap = get(c, -1, 0, 0) + get(c, 1, 0, 0) + get(c, 0, -1, 0) + get(c, 0, 1, 0) + get(c, 0, 0, -1) + get(c, 0, 0, 1) - 6 * get(c, 0, 0, 0);
  float field = z == 0 ? -0.01 : 0.0;
  return (log(u) + 1) / na - (log(1 - u) + 1) / nb + chi * (1 - 2 * u) - min(1 / (18 * u * (1 - u)), 0.3) * lap + field;
}
float mobile(float u) { return max(u * (1 - u), 0); }
float flux(float a, float b, float ma, float mb) { return 0.5 * (mobile(a) + mobile(b)) * (mb - ma); }
CellValue motion (c) {
  float u = get(c, 0, 0, 0), m = get(mu, 0, 0, 0);
  return u + dt * (flux(u, get(c, 1, 0, 0), m, get(mu, 1, 0, 0)) + flux(u, get(c, -1, 0, 0), m, get(mu, -1, 0, 0)) + flux(u, get(c, 0, 1, 0), m, get(mu, 0, 1, 0))
       + flux(u, get(c, 0, -1, 0), m, get(mu, 0, -1, 0)) + flux(u, get(c, 0, 0, 1), m, get(mu, 0, 0, 1)) + flux(u, get(c, 0, 0, -1), m, get(mu, 0, 0, -1)));
}
