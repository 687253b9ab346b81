# Cells that crawl to where they smell what others give off, in a volume with closed walls: their density, upwind by the slope of the scent, and the scent.
# Source: Keller and Segel (1970) as in Chertock and Kurganov, "A second-order positivity preserving central-upwind scheme for chemotaxis and haptotaxis models" (2008), equations 1.1 and 2.2, first order in space; volume filling after Hillen and Painter (2001).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (n, s)
Boundary mirror
DefaultSize (320, 320, 320)
Steps 500
InputRange n (0, 0.8)
InputRange s (0, 1)
const double chi = 0.5;
const double d = 0.08;
double flux(double left, double right, double sl, double sr) {
  double v = chi * (sr - sl);
  return (v > 0 ? left * (1 - right) : right * (1 - left)) * v - d * (right - left);
}
CellValue {
  double a = get(n, 0, 0, 0), c = get(s, 0, 0, 0);
  double q = flux(get(n, -1, 0, 0), a, get(s, -1, 0, 0), c) - flux(a, get(n, 1, 0, 0), c, get(s, 1, 0, 0))
    + flux(get(n, 0, -1, 0), a, get(s, 0, -1, 0), c) - flux(a, get(n, 0, 1, 0), c, get(s, 0, 1, 0))
    + flux(get(n, 0, 0, -1), a, get(s, 0, 0, -1), c) - flux(a, get(n, 0, 0, 1), c, get(s, 0, 0, 1));
  return a + q, c + 0.1 * (get(s, 1, 0, 0) + get(s, -1, 0, 0) + get(s, 0, 1, 0) + get(s, 0, -1, 0) + get(s, 0, 0, 1) + get(s, 0, 0, -1) - 6 * c) + 0.05 * a * (1 - 0.5 * a) - 0.02 * c;
}
