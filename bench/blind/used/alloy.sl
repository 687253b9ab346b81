# Two metals that separate: the Allen-Cahn equation with the logarithmic free energy of mixing.
# Source: Allen and Cahn, "A microscopic theory for antiphase boundary motion" (1979); Flory and Huggins' entropy.
NumDimensions 2
StencilSize (1, 1)
DataType double
ScalarVariables (double heat = 0.8, dt = 0.05)
Boundary mirror
DefaultSize (4095, 4095)
InputRange (-0.8, 0.8)
CellValue {
  double c = get(0, 0);
  double lap = get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1) - 4 * c;
  return c + dt * (lap + c - 0.5 * heat * log((1 + c) / (1 - c)));
}
