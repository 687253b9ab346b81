# Diffusion along the fibres of an image: a symmetric tensor (a, b; b, c) in each pixel, nine points.
# Source: Weickert, "Anisotropic Diffusion in Image Processing" (1998), section 3.4.2, the standard discretisation.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (u)
ReadOnly (a, b, c)
Boundary clamp
DefaultSize (6000, 4001)
InputRange (0.2, 1)
CellValue {
  float ex = 0.5 * (get(a, 1, 0) + get(a, 0, 0)) * (get(u, 1, 0) - get(u, 0, 0));
  float wx = 0.5 * (get(a, -1, 0) + get(a, 0, 0)) * (get(u, 0, 0) - get(u, -1, 0));
  float ny = 0.5 * (get(c, 0, 1) + get(c, 0, 0)) * (get(u, 0, 1) - get(u, 0, 0));
  float sy = 0.5 * (get(c, 0, -1) + get(c, 0, 0)) * (get(u, 0, 0) - get(u, 0, -1));
  float xy = 0.25 * (get(b, 1, 0) * (get(u, 1, 1) - get(u, 1, -1)) - get(b, -1, 0) * (get(u, -1, 1) - get(u, -1, -1)));
  float yx = 0.25 * (get(b, 0, 1) * (get(u, 1, 1) - get(u, -1, 1)) - get(b, 0, -1) * (get(u, 1, -1) - get(u, -1, -1)));
  return get(u, 0, 0) + 0.1 * (ex - wx + ny - sy + xy + yx);
}
