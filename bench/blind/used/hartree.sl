# The electrostatic potential of a molecule's electrons, of density rho, in atomic units: Poisson's equation, sixth order, by damped Jacobi steps
# until it has settled. The outer three layers hold the potential of the charge's multipoles, from the start.
# Source: Chelikowsky, Troullier and Saad, "Finite-difference-pseudopotential method: electronic structure calculations without a basis" (1994), with N = 3.
NumDimensions 3
StencilSize (3, 3, 3)
DataType double
Fields (v)
ReadOnly (rho)
Boundary fixed
DefaultSize (201, 201, 189)
Steps 2000
InputRange rho (0, 0.1)
const double h = 0.3;
const double pi = 3.141592653589793;
const double damping = 0.8;
CellValue {
  double lap = 3 * (-49.0 / 18) * get(v, 0, 0, 0);
  lap += 3.0 / 2 * (get(v, -1, 0, 0) + get(v, 1, 0, 0) + get(v, 0, -1, 0) + get(v, 0, 1, 0) + get(v, 0, 0, -1) + get(v, 0, 0, 1));
  lap -= 3.0 / 20 * (get(v, -2, 0, 0) + get(v, 2, 0, 0) + get(v, 0, -2, 0) + get(v, 0, 2, 0) + get(v, 0, 0, -2) + get(v, 0, 0, 2));
  lap += 1.0 / 90 * (get(v, -3, 0, 0) + get(v, 3, 0, 0) + get(v, 0, -3, 0) + get(v, 0, 3, 0) + get(v, 0, 0, -3) + get(v, 0, 0, 3));
  double residual = lap / (h * h) + 4 * pi * get(rho, 0, 0, 0);
  return get(v, 0, 0, 0) + damping * residual / (3 * 49.0 / 18 / (h * h));
}
Reduce max { return fabs(value - get(v, 0, 0, 0)); }
Until < 1e-8 every 50
