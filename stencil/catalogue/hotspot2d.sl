# Heat in a chip: conduction between neighbours, to the ambient air, and the power
# that is dissipated in each cell.
# Source: Hotspot.sl, figure 3 of "A Language and Optimizing Compiler for Iterative
# Stencil Loops"; Rodinia's hotspot. The power is a named array here, and the
# scalars have defaults that let the temperature settle.
NumDimensions 2
StencilSize (1, 1)
DataType float
FunctionName runHotspot
ScalarVariables (float Rx = 10, float Ry = 10, float Rz = 100)
ReadOnly (power)
Boundary clamp
DefaultSize (8192, 8192)
Steps 1000
CellValue {
  float value = get(0, 0);
  float term1 = (get(0, 1) + get(0, -1) - 2 * value) / Ry;
  float term2 = (get(1, 0) + get(-1, 0) - 2 * value) / Rx;
  float term3 = (80.0 - value) / Rz;
  return value + get(power, 0, 0) + term1 + term2 + term3;
}
