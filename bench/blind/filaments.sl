# Spiral waves that turn around filaments in an excitable volume that repeats: u is how excited a cell is, and spreads to 18 neighbours; v lets it recover and stays where it is.
# The fast reaction of u is implicit in the factor that decides over its sign, so that steps may be long.
# Source: Barkley, "A model for fast computer simulation of waves in excitable media" (1991), the semi-implicit form; Dowle, Mantel and Barkley, "Fast simulations of waves in
# three-dimensional excitable media" (1997), with the Laplacian of 19 points.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u, v)
ScalarVariables (float a = 0.8, float b = 0.01)
Boundary wrap
DefaultSize (512, 448, 320)
Steps 2000
InputRange u (0, 1)
InputRange v (0, 0.6)
const float dt = 0.01;
const float fast = 0.5;      # dt over the ratio of both times, 1 / 50
const float spread = 0.07;   # dt over the square of the mesh width
CellValue (u, v) {
  float c = get(u, 0, 0, 0), r = get(v, 0, 0, 0);
  float faces = get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1);
  float edges = get(u, -1, -1, 0) + get(u, 1, -1, 0) + get(u, -1, 1, 0) + get(u, 1, 1, 0) + get(u, -1, 0, -1) + get(u, 1, 0, -1) + get(u, -1, 0, 1) + get(u, 1, 0, 1)
      + get(u, 0, -1, -1) + get(u, 0, 1, -1) + get(u, 0, -1, 1) + get(u, 0, 1, 1);
  float over = c - (r + b) / a;
  float grown = over < 0 ? c / (1 - fast * (1 - c) * over) : (c + fast * c * over) / (1 + fast * c * over);
  return grown + spread / 6 * (2 * faces + edges - 24 * c), r + dt * (c - r);
}
