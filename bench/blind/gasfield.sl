# Gas in a field of porous rock, by its density p: it is driven by a pressure that is the square of that, so that what moves is the Laplacian of its cube. Layers let through a fifth as
# much across (z) as along them. Rock around is tight. Each step looks ahead by two thirds of it, and then takes both rates.
# Source: Muskat, "The Flow of Homogeneous Fluids through Porous Media" (1937), the equation of gas; Vazquez, "The Porous Medium Equation" (2007), chapter 2, exponent 3;
# Ralston, "Runge-Kutta methods with minimum error bounds" (1962), the two stages.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (p, ahead)
Temporary (ahead)
Boundary mirror
Stages (look, step)
DefaultSize (480, 416, 320)
Steps 1500
InputRange p (0, 1)
const double along = 0.06;     # time step times the rock's conductance over the square of the mesh width
const double across = 0.012;
double cube(double a) { return a * a * a; }
CellValue look (ahead) {
  double c = get(p, 0, 0, 0), own = 2 * cube(c);
  double rate = along * (cube(get(p, -1, 0, 0)) + cube(get(p, 1, 0, 0)) - own) + along * (cube(get(p, 0, -1, 0)) + cube(get(p, 0, 1, 0)) - own)
      + across * (cube(get(p, 0, 0, -1)) + cube(get(p, 0, 0, 1)) - own);
  return c + 2.0 / 3 * rate;
}
# The first rate is three halves of what the look went; it counts a quarter, the second three.
CellValue step (p) {
  double c = get(ahead, 0, 0, 0), own = 2 * cube(c);
  double rate = along * (cube(get(ahead, -1, 0, 0)) + cube(get(ahead, 1, 0, 0)) - own) + along * (cube(get(ahead, 0, -1, 0)) + cube(get(ahead, 0, 1, 0)) - own)
      + across * (cube(get(ahead, 0, 0, -1)) + cube(get(ahead, 0, 0, 1)) - own);
  return 0.625 * get(p, 0, 0, 0) + 0.375 * c + 0.75 * rate;
}
