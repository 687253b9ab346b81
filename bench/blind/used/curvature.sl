# A picture of 16-bit pixels whose level lines move by their curvature.
# Source: Alvarez, Lions and Morel, "Image selective smoothing and edge detection by nonlinear diffusion II" (1992).
NumDimensions 2
StencilSize (1, 1)
DataType float16
Boundary mirror
DefaultSize (9001, 8000)
Steps 100
InputRange (0, 4)
CellValue {
  float c = get(0, 0);
  float ux = 0.5 * (get(1, 0) - get(-1, 0)), uy = 0.5 * (get(0, 1) - get(0, -1));
  float uxx = get(1, 0) - 2 * c + get(-1, 0), uyy = get(0, 1) - 2 * c + get(0, -1);
  float uxy = 0.25 * (get(1, 1) - get(1, -1) - get(-1, 1) + get(-1, -1));
  return c + 0.2 * (uxx * uy * uy - 2 * ux * uy * uxy + uyy * ux * ux) / (ux * ux + uy * uy + 0.1);
}
