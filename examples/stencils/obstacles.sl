# A fluid that flows around obstacles, by the lattice Boltzmann method: nine populations, each from the cell that it comes
# from, turned around where solid, a byte a cell, is 1, else relaxed to equilibrium.
NumDimensions 2
StencilSize (1, 1)
DataType double
ScalarVariables (double omega = 1.2)
Fields (f0, f1, f2, f3, f4, f5, f6, f7, f8)
ReadOnly (solid: uint8)
Boundary wrap
InputRange (0, 1)
InputRange solid {0, 1}
const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
const double weight[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
double equilibrium(int k, double rho, double ux, double uy) {
  double along = 3 * (cx[k] * ux + cy[k] * uy);
  return weight[k] * rho * (1 + along + 0.5 * along * along - 1.5 * (ux * ux + uy * uy));
}
CellValue {
  double f[9] = {
    get(f0, 0, 0), get(f1, -1, 0), get(f2, 0, -1), get(f3, 1, 0), get(f4, 0, 1),
    get(f5, -1, -1), get(f6, 1, -1), get(f7, 1, 1), get(f8, -1, 1)
  };
  if (get(solid, 0, 0) != 0) return f[0], f[3], f[4], f[1], f[2], f[7], f[8], f[5], f[6];
  double rho = 0, mx = 0, my = 0;
  for (int k = 0; k < 9; k++) {
    rho += f[k];
    mx += cx[k] * f[k];
    my += cy[k] * f[k];
  }
  double ux = mx / rho, uy = my / rho;
  for (int k = 0; k < 9; k++) f[k] += omega * (equilibrium(k, rho, ux, uy) - f[k]);
  return f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8];
}
