# An image that is smoothed within its regions and keeps its edges: the diffusion
# between two cells falls off exponentially with their difference.
# Source: Perona and Malik, "Scale-space and edge detection using anisotropic
# diffusion" (1990), with the exponential conductance.
NumDimensions 2
StencilSize (1, 1)
DataType float
ScalarVariables (float edge = 0.3, float lambda = 0.2)
Boundary clamp
DefaultSize (8192, 8192)
Steps 100
InputRange (0, 1)
CellValue {
  float c = get(0, 0), k = 1.0 / (edge * edge);
  float n = get(0, -1) - c, s = get(0, 1) - c, w = get(-1, 0) - c, e = get(1, 0) - c;
  return c + lambda * (exp(-k * n * n) * n + exp(-k * s * s) * s + exp(-k * w * w) * w + exp(-k * e * e) * e);
}
