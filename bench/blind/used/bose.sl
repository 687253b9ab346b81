# A cloud of cold atoms in a trap that turns, cooled to its ground state with vortices: real and imaginary part (a, b) of its wave function in a box at whose walls it
# vanishes, by the gradient flow that keeps its norm; what the trap and the atoms do to each other is implicit, the rest explicit, of fourth order in space.
# Source: Bao, Wang and Markowich, "Ground, symmetric and central vortex states in rotating Bose-Einstein condensates" (2005); Bao and Du, "Computing the ground state
# solution of Bose-Einstein condensates by a normalized gradient flow" (2004), the flow and its projection.
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Fields (a, b)
ScalarVariables (double omega = 0.8, double beta = 400)
Boundary constant 0
DefaultSize (241, 241, 161)
Steps 4000
InputRange (-1, 1)
const double h = 0.1;         # lengths of the trap's oscillator
const double dt = 0.001;
const double gamma = 1.5;     # the trap along z, by that across it
StepScalar sum norm { return get(a, 0, 0, 0) * get(a, 0, 0, 0) + get(b, 0, 0, 0) * get(b, 0, 0, 0); }
StepScalar scale { return 1 / sqrt(norm * h * h * h); }
double bend(double ww, double w, double c, double e, double ee) { return (16 * (w + e) - (ww + ee) - 30 * c) / (12 * h * h); }
double slope(double ww, double w, double e, double ee) { return (8 * (e - w) - (ee - ww)) / (12 * h); }
CellValue {
  double px = h * (x - 0.5 * (input_size.x - 1)), py = h * (y - 0.5 * (input_size.y - 1)), pz = h * (z - 0.5 * (input_size.z - 1));
  double ca = get(a, 0, 0, 0), cb = get(b, 0, 0, 0);
  double la = bend(get(a, -2, 0, 0), get(a, -1, 0, 0), ca, get(a, 1, 0, 0), get(a, 2, 0, 0))
      + bend(get(a, 0, -2, 0), get(a, 0, -1, 0), ca, get(a, 0, 1, 0), get(a, 0, 2, 0))
      + bend(get(a, 0, 0, -2), get(a, 0, 0, -1), ca, get(a, 0, 0, 1), get(a, 0, 0, 2));
  double lb = bend(get(b, -2, 0, 0), get(b, -1, 0, 0), cb, get(b, 1, 0, 0), get(b, 2, 0, 0))
      + bend(get(b, 0, -2, 0), get(b, 0, -1, 0), cb, get(b, 0, 1, 0), get(b, 0, 2, 0))
      + bend(get(b, 0, 0, -2), get(b, 0, 0, -1), cb, get(b, 0, 0, 1), get(b, 0, 0, 2));
  double turna = px * slope(get(a, 0, -2, 0), get(a, 0, -1, 0), get(a, 0, 1, 0), get(a, 0, 2, 0))
      - py * slope(get(a, -2, 0, 0), get(a, -1, 0, 0), get(a, 1, 0, 0), get(a, 2, 0, 0));
  double turnb = px * slope(get(b, 0, -2, 0), get(b, 0, -1, 0), get(b, 0, 1, 0), get(b, 0, 2, 0))
      - py * slope(get(b, -2, 0, 0), get(b, -1, 0, 0), get(b, 1, 0, 0), get(b, 2, 0, 0));
  double well = 0.5 * (px * px + py * py + gamma * gamma * pz * pz) + beta * scale * scale * (ca * ca + cb * cb);
  double held = scale / (1 + dt * well);
  return held * (ca + dt * (0.5 * la + omega * turnb)), held * (cb + dt * (0.5 * lb - omega * turna));
}
