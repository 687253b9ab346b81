# Two chemicals that react and diffuse in a volume: v feeds on u, u is fed and v decays.
# Source: Pearson, "Complex patterns in a simple system" (1993), with the
# seven-point Laplacian in a volume and a ratio of diffusions of 2 as there.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
ScalarVariables (double feed = 0.04, double kill = 0.06)
Fields (u, v)
Boundary wrap
DefaultSize (512, 512, 512)
Steps 1000
InputRange (0, 0.5)
CellValue {
  float a = get(u, 0, 0, 0), b = get(v, 0, 0, 0);
  float du = get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1) - 6 * a;
  float dv = get(v, -1, 0, 0) + get(v, 1, 0, 0) + get(v, 0, -1, 0) + get(v, 0, 1, 0) + get(v, 0, 0, -1) + get(v, 0, 0, 1) - 6 * b;
  float r = a * b * b;
  return a + 0.1 * du - r + feed * (1 - a), b + 0.05 * dv + r - (feed + kill) * b;
}
