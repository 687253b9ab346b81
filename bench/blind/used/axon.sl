# A squid's giant axon with a steady current into one end, sealed at the other: the membrane's voltage in mV above rest, and how far its gates for
# sodium (m, h) and potassium (n) are open.
# Source: Hodgkin and Huxley, "A quantitative description of membrane current and its application to conduction and excitation in nerve" (1952),
# equations 26 and 29 with today's sign; Euler's step.
NumDimensions 1
StencilSize (1)
DataType double
Fields (v, m, h, n)
Boundary clamp
EdgeValue v x low { return value + 2; }
DefaultSize (7500001)
InputRange v (-10, 60)
InputRange m (0, 0.6)
InputRange h (0.1, 0.6)
InputRange n (0.3, 0.7)
const double dt = 0.005;     # ms
double ratio(double a) { return fabs(a) < 1e-4 ? 1 - 0.5 * a : a / (exp(a) - 1); }
CellValue {
  double u = get(v, 0), a = get(m, 0), b = get(h, 0), c = get(n, 0);
  double ions = 120 * a * a * a * b * (u - 115) + 36 * c * c * c * c * (u + 12) + 0.3 * (u - 10.6);
  return u + 0.2 * (get(v, -1) - 2 * u + get(v, 1)) - dt * ions,
         a + dt * (ratio(2.5 - 0.1 * u) * (1 - a) - 4 * exp(-u / 18) * a),
         b + dt * (0.07 * exp(-0.05 * u) * (1 - b) - b / (exp(3 - 0.1 * u) + 1)),
         c + dt * (0.1 * ratio(1 - 0.1 * u) * (1 - c) - 0.125 * exp(-u / 80) * c);
}
