# A scan of a head, of 16-bit voxels whose slices lie further apart than their pixels, smoothed but for its edges.
# Source: Perona and Malik, "Scale-space and edge detection using anisotropic diffusion" (1990), the exponential; Gerig, Kuebler, Kikinis and Jolesz, "Nonlinear
# anisotropic filtering of MRI data" (1992), section III, in three dimensions with the neighbours at the corners of a slice.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (v: uint16)
Boundary clamp
DefaultSize (512, 512, 400)
Steps 20
InputRange v (0, 4095)
const float kappa = 80;
const float dt = 0.1;
float flow(float d) { return d * exp(-d * d / (kappa * kappa)); }
CellValue {
  float c = get(v, 0, 0, 0);
  float beside = flow(get(v, -1, 0, 0) - c) + flow(get(v, 1, 0, 0) - c) + flow(get(v, 0, -1, 0) - c) + flow(get(v, 0, 1, 0) - c);
  float corners = flow(get(v, -1, -1, 0) - c) + flow(get(v, 1, -1, 0) - c) + flow(get(v, -1, 1, 0) - c) + flow(get(v, 1, 1, 0) - c);
  float slices = flow(get(v, 0, 0, -1) - c) + flow(get(v, 0, 0, 1) - c);
  return c + dt * (beside + 0.5 * corners + 0.25 * slices) + 0.5;
}
