# The double strand of a bacterium's DNA as it breathes, in a bath of 300 K: how far each base pair is stretched (s, angstrom) and how fast (v). Pairs of G and C
# hold faster than those of A and T, and a stiffness between neighbours is lost where pairs are open. Units: electronvolt, atomic mass, 10.18 fs.
# Source: Dauxois, Peyrard and Bishop, "Entropy-driven DNA denaturation" (1993); constants of Campa and Giansanti, "Experimental tests of the Peyrard-Bishop
# model applied to the melting of very short DNA chains" (1998); the bath of Berendsen and others, "Molecular dynamics with coupling to an external bath" (1984),
# equation 11. As long as the chromosome of Escherichia coli.
NumDimensions 1
StencilSize (1)
DataType double
Fields (s, v)
ReadOnly (gc: uint8)
ScalarVariables (double bath = 0.025852)    # Boltzmann's constant times the temperature
Boundary clamp
DefaultSize (4641652)
Steps 100000
InputRange s (-0.1, 1.5)
InputRange v (-0.016, 0.016)
InputRange gc {0, 1}
const double mass = 300;
const double dt = 0.5;
const double tau = 100;
const double k = 0.025;
const double rho = 2;
const double b = 0.35;
StepScalar sum squares { return get(v, 0) * get(v, 0); }
StepScalar scale { return sqrt(1 + dt / tau * (bath * input_size.x / (mass * squares) - 1)); }
double loose(double l, double r) { return exp(-b * (l + r)); }
# How the energy between two pairs grows with the stretching of the right one, and of the left one.
double right(double l, double r) { return k * (r - l) * (1 + rho * loose(l, r) * (1 - 0.5 * b * (r - l))); }
double left(double l, double r) { return k * (l - r) * (1 + rho * loose(l, r) * (1 - 0.5 * b * (l - r))); }
CellValue {
  double depth = get(gc, 0) > 0 ? 0.075 : 0.05;
  double a = get(gc, 0) > 0 ? 6.9 : 4.2;
  double e = exp(-a * get(s, 0));
  double force = 2 * a * depth * e * (e - 1) - right(get(s, -1), get(s, 0)) - left(get(s, 0), get(s, 1));
  double speed = scale * (get(v, 0) + dt / mass * force);
  return get(s, 0) + dt * speed, speed;
}
