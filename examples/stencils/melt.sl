# Heat in an alloy that melts: what has melted conducts half as much. A byte says what has, 16 bits how much a cell conducts.
NumDimensions 2
StencilSize (1, 1)
Fields (t, molten: uint8)
ReadOnly (k: float16)
Boundary clamp
InputRange t (0, 2)
InputRange k (0.1, 0.2)
CellValue {
  float c = get(t, 0, 0), around = get(t, -1, 0) + get(t, 1, 0) + get(t, 0, -1) + get(t, 0, 1);
  float flow = get(k, 0, 0) * (around - 4 * c);
  float next = c + (get(molten, 0, 0) > 0 ? 0.5 * flow : flow);
  return next, get(molten, 0, 0) > 0 || next > 1;
}
