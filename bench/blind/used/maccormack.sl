# Burgers' equation in the plane: forward differences predict, backward ones correct.
# Source: MacCormack, "The effect of viscosity in hypervelocity impact cratering" (1969).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (u, v, us, vs)
Temporary (us, vs)
Boundary wrap
Stages (predict, correct)
DefaultSize (6000, 5500)
InputRange (-0.5, 0.5)
const float c = 0.2;
const float n = 0.1;
CellValue predict (us, vs) {
  float a = get(u, 0, 0), b = get(v, 0, 0);
  float la = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * a;
  float lb = get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1) - 4 * b;
  return a - c * (a * (get(u, 1, 0) - a) + b * (get(u, 0, 1) - a)) + n * la,
         b - c * (a * (get(v, 1, 0) - b) + b * (get(v, 0, 1) - b)) + n * lb;
}
CellValue correct (u, v) {
  float a = get(us, 0, 0), b = get(vs, 0, 0);
  float la = get(us, -1, 0) + get(us, 1, 0) + get(us, 0, -1) + get(us, 0, 1) - 4 * a;
  float lb = get(vs, -1, 0) + get(vs, 1, 0) + get(vs, 0, -1) + get(vs, 0, 1) - 4 * b;
  return 0.5 * (get(u, 0, 0) + a - c * (a * (a - get(us, -1, 0)) + b * (a - get(us, 0, -1))) + n * la),
         0.5 * (get(v, 0, 0) + b - c * (a * (b - get(vs, -1, 0)) + b * (b - get(vs, 0, -1))) + n * lb);
}
