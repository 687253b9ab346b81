# Fields of three types, one of which is another's older level.
NumDimensions 2
StencilSize (1, 1)
Fields (u: float16, old: float16, v, cold: uint8)
ReadOnly (k: float16)
Boundary mirror
InputRange (0, 1)
CellValue {
  float next = 0.6 * get(u, 0, 0) + 0.1 * (get(u, 1, 0) + get(u, 0, -1)) + 0.1 * get(v, -1, 0) + 0.05 * get(old, 0, 0);
  return next, get(u, 0, 0), 0.5 * get(v, 0, 0) + 0.25 * get(k, 0, 1) * get(cold, 1, 0), get(cold, -1, 0) + get(cold, 1, 0) == 1 ? 1 : 0;
}
