# Heat in a furnace: the conductivity k varies, in 16 bits, and nothing flows into or out of its walls, of a byte each.
NumDimensions 2
StencilSize (1, 1)
ScalarVariables (float dt = 0.1)
Fields (t)
ReadOnly (k: float16, wall: uint8)
Boundary clamp
InputRange (0.5, 1.5)
InputRange wall {0, 1}
float flow(int dx, int dy) {
  if (get(wall, dx, dy) + get(wall, 0, 0) > 0) return 0;
  return 0.5 * (get(k, dx, dy) + get(k, 0, 0)) * (get(t, dx, dy) - get(t, 0, 0));
}
CellValue { return get(t, 0, 0) + dt * (flow(1, 0) + flow(-1, 0) + flow(0, 1) + flow(0, -1)); }
