# Small waves on a turning sea in a channel: linear shallow water on an Arakawa C grid, forward-backward in time.
# Source: Mesinger and Arakawa, "Numerical methods used in atmospheric models" (1976), chapter 4.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (h, u, v)
ReadOnly (depth, f[y])
Boundary (wrap, mirror)
Boundary v y constant 0
Stages (height, flow)
DefaultSize (7001, 5003)
InputRange depth (0.2, 1)
InputRange f (0.01, 0.02)
CellValue height (h) {
  float e = 0.5 * (get(depth, 0, 0) + get(depth, 1, 0)) * get(u, 0, 0);
  float w = 0.5 * (get(depth, -1, 0) + get(depth, 0, 0)) * get(u, -1, 0);
  float n = 0.5 * (get(depth, 0, 0) + get(depth, 0, 1)) * get(v, 0, 0);
  float s = 0.5 * (get(depth, 0, -1) + get(depth, 0, 0)) * get(v, 0, -1);
  return get(h, 0, 0) - 0.4 * (e - w + n - s);
}
CellValue flow (u, v) {
  float around = 0.25 * (get(v, 0, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 1, -1));
  float across = 0.25 * (get(u, 0, 0) + get(u, -1, 0) + get(u, 0, 1) + get(u, -1, 1));
  return get(u, 0, 0) - 0.4 * (get(h, 1, 0) - get(h, 0, 0)) + get(f, 0) * around,
         get(v, 0, 0) - 0.4 * (get(h, 0, 1) - get(h, 0, 0)) - get(f, 0) * across;
}
