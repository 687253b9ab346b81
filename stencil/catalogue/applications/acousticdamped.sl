# Sound from one point in a volume that absorbs it towards its edges: the wave equation,
# eighth order in space and second in time. v2 is the square of the velocity and d the
# damping, both in units of the mesh; a Ricker wavelet that peaks at step 25 sounds in the middle.
# Source: Cerjan et al., "A nonreflecting boundary condition for discrete acoustic and
# elastic wave equations" (1985) for absorbing edges; the damped form is that of
# Devito's acoustic example, Louboutin et al. (2019); the eighth-order
# second difference is of Fornberg (1988), table 1. Silence outside.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
Fields (p, before)
ReadOnly (v2, d)
Boundary constant 0
DefaultSize (512, 512, 512)
Steps 1000
InputRange (0.2, 1)
CellValue {
  float c = get(p, 0, 0, 0);
  float laplace = 3.0 * -2.8472222222222223 * c;
  for (int i = 1; i <= 4; i++) {
    const float w = i == 1 ? 1.6 : i == 2 ? -0.2 : i == 3 ? 0.025396825396825397 : -0.0017857142857142857;
    laplace += w * (get(p, -i, 0, 0) + get(p, i, 0, 0) + get(p, 0, -i, 0) + get(p, 0, i, 0) + get(p, 0, 0, -i) + get(p, 0, 0, i));
  }
  float damping = 0.05 * get(d, 0, 0, 0);
  float new = (2.0 * c - (1 - damping) * get(before, 0, 0, 0) + 0.1 * get(v2, 0, 0, 0) * laplace) / (1 + damping);
  if (x == input_size.x / 2 && y == input_size.y / 2 && z == input_size.z / 2) {
    float t = 0.12 * (iteration - 25);
    new += (1 - 2 * t * t) * exp(-t * t);
  }
  return new, c;
}
