# Poisson's equation by red-black relaxation, until no cell changes by more than a millionth.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (u)
ReadOnly (f)
Boundary fixed
Stages (red, black)
double relaxed(int colour) {
  double c = get(u, 0, 0);
  if ((x + y) % 2 != colour) return c;
  return c + 1.2 * (0.25 * (get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - get(f, 0, 0)) - c);
}
CellValue red { return relaxed(0); }
CellValue black { return relaxed(1); }
Reduce max { return fabs(value - get(u, 0, 0)); }
Until < 1e-6 every 10
