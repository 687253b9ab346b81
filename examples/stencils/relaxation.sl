# Poisson's equation by red-black relaxation, until no cell changes by more than a millionth.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (u)
ReadOnly (f)
Boundary fixed
Stages (red, black)
Color red (x + y) % 2 == 0
Color black (x + y) % 2 == 1
double relaxed() {
  double around = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1);
  return get(u, 0, 0) + 1.2 * (0.25 * (around - get(f, 0, 0)) - get(u, 0, 0));
}
CellValue red { return relaxed(); }
CellValue black { return relaxed(); }
Reduce max { return fabs(value - get(u, 0, 0)); }
Until < 1e-6 every 10
