# The potential around charges in salt water, where ions may go: the Poisson-Boltzmann equation, a damped Jacobi step.
# Source: Nicholls and Honig, "A rapid finite difference algorithm, utilizing successive over-relaxation to solve the Poisson-Boltzmann equation" (1991).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u)
ReadOnly (charge, water: uint8)
Boundary constant 0
DefaultSize (353, 384, 320)
InputRange (-2, 2)
InputRange water {0, 1}
CellValue {
  float c = get(u, 0, 0, 0);
  float sum = get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1);
  float salt = fabs(c) > 0.01 ? sinh(c) / c : 1 + c * c / 6;
  return 0.1 * c + 0.9 * (sum + get(charge, 0, 0, 0)) / (6 + 0.3 * get(water, 0, 0, 0) * salt);
}
