# A tumour that invades tissue: living cells n follow the tissue f that they dissolve by an enzyme m, and need oxygen c; where it lacks they die and stay as a core (dead). The volume is closed; vessels in the tissue bring oxygen.
# Source: Anderson, "A hybrid mathematical model of solid tumour invasion: the importance of cell adhesion" (2005), equations 1 to 4, the continuous model with proliferation and necrosis; Anderson and Chaplain (2000).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (n, f, m, c, dead: float16)
ScalarVariables (float dt = 0.05, float starve = 0.05)
Boundary clamp
DefaultSize (250, 240, 230)
Steps 5000
InputRange n (0, 1)
InputRange f (0, 1)
InputRange m (0, 0.5)
InputRange c (0, 1)
InputRange dead (0, 0.2)
float flow(float other, int dx, int dy, int dz) {
  float here = get(n, 0, 0, 0);
  # Cells spread, and climb towards more tissue.
  return 0.05 * (other - here) - 0.1 * 0.5 * (other + here) * (get(f, dx, dy, dz) - get(f, 0, 0, 0));
}
CellValue {
  float cells = get(n, 0, 0, 0), tissue = get(f, 0, 0, 0), enzyme = get(m, 0, 0, 0), oxygen = get(c, 0, 0, 0), core = get(dead, 0, 0, 0);
  float moved = 0, le = -6 * enzyme, lo = -6 * oxygen;
  for (int axis = 0; axis < 3; axis++)
    for (int s = -1; s <= 1; s += 2) {
      const int dx = axis == 0 ? s : 0, dy = axis == 1 ? s : 0, dz = axis == 2 ? s : 0;
      moved += flow(get(n, dx, dy, dz), dx, dy, dz);
      le += get(m, dx, dy, dz);
      lo += get(c, dx, dy, dz);
    }
  float room = max(1 - cells - core - 0.5 * tissue, 0);
  float dying = oxygen < starve ? 0.2 * cells : 0;
  float born = oxygen >= starve ? 0.4 * cells * room * oxygen / (oxygen + 0.1) : 0;
  return max(cells + dt * (moved + born - dying), 0), tissue * max(1 - dt * 10 * enzyme, 0),
         enzyme + dt * (0.1 * le + 0.1 * cells - 0.05 * enzyme), max(oxygen + dt * (lo + 0.5 * tissue * (1 - oxygen) - 0.57 * cells * oxygen / (oxygen + 0.1) - 0.025 * oxygen), 0), min(core + dt * dying, 1);
}
