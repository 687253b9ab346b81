# The Brusselator in a volume: two substances that react autocatalytically and diffuse.
# Source: Prigogine and Lefever, "Symmetry breaking instabilities in dissipative systems II" (1968), A = 1, B = 2.4.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u, v)
Boundary wrap
DefaultSize (384, 384, 320)
InputRange (0.5, 2)
CellValue {
  float a = get(u, 0, 0, 0), b = get(v, 0, 0, 0);
  float la = get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1) - 6 * a;
  float lb = get(v, -1, 0, 0) + get(v, 1, 0, 0) + get(v, 0, -1, 0) + get(v, 0, 1, 0) + get(v, 0, 0, -1) + get(v, 0, 0, 1) - 6 * b;
  float r = a * a * b;
  return a + 0.02 * la + 0.01 * (1 - 3.4 * a + r), b + 0.1 * lb + 0.01 * (2.4 * a - r);
}
