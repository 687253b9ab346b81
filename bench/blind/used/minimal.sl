# A scan of a body, stored in 16 bits, made smooth but for its edges: its brightness, as the height of a surface over the volume, flows so that the surface has least area. Where it is
# steep, across an edge, it hardly moves. Slices lie twice as far apart as pixels.
# Source: Sochen, Kimmel and Malladi, "A general framework for low level vision" (1998), Beltrami flow; Kimmel, Malladi and Sochen, "Images as embedded maps and minimal surfaces:
# movies, color, texture, and volumetric medical images" (2000), in volumes.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float16
Fields (u)
ScalarVariables (float dt = 0.12, float beta = 2)    # the time step, and how high brightness counts against a pixel's width
Boundary clamp
DefaultSize (511, 509, 347)
Steps 200
InputRange u (0, 2)
CellValue {
  float c = get(u, 0, 0, 0);
  float w = get(u, -1, 0, 0), e = get(u, 1, 0, 0), s = get(u, 0, -1, 0), n = get(u, 0, 1, 0), b = get(u, 0, 0, -1), t = get(u, 0, 0, 1);
  float ux = 0.5 * (e - w), uy = 0.5 * (n - s), uz = 0.25 * (t - b);
  float uxx = e + w - 2 * c, uyy = n + s - 2 * c, uzz = 0.25 * (t + b - 2 * c);
  float uxy = 0.25 * (get(u, 1, 1, 0) + get(u, -1, -1, 0) - get(u, 1, -1, 0) - get(u, -1, 1, 0));
  float uxz = 0.125 * (get(u, 1, 0, 1) + get(u, -1, 0, -1) - get(u, 1, 0, -1) - get(u, -1, 0, 1));
  float uyz = 0.125 * (get(u, 0, 1, 1) + get(u, 0, -1, -1) - get(u, 0, 1, -1) - get(u, 0, -1, 1));
  float steep = beta * beta * (ux * ux + uy * uy + uz * uz);    # the squared gradient
  float along = beta * beta * (ux * ux * uxx + uy * uy * uyy + uz * uz * uzz + 2 * (ux * uy * uxy + ux * uz * uxz + uy * uz * uyz));
  float metric = 1 + steep;
  return c + dt * (uxx + uyy + uzz - along / metric) / metric;
}
