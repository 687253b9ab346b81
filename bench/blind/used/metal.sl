# Light that meets metal in a volume: Maxwell's equations on Yee's grid, with a Drude medium's current at the points of the electric field.
# Source: Okoniewski, Mrozowski and Stuchly, "Simple treatment of multi-term dispersion in FDTD" (1997), one pole at 0.
# keep is the share of a current that a step leaves, plasma what the field adds to it.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (ex, ey, ez, jx, jy, jz, hx, hy, hz)
ReadOnly (keep, plasma)
Boundary constant 0
Stages (magnetic, current, electric)
DefaultSize (250, 224, 203)
InputRange keep (0.9, 1)
InputRange plasma (0, 0.1)
const float r = 0.5;         # the Courant number
CellValue magnetic (hx, hy, hz) {
  return get(hx, 0, 0, 0) + r * (get(ey, 0, 0, 1) - get(ey, 0, 0, 0) - get(ez, 0, 1, 0) + get(ez, 0, 0, 0)),
         get(hy, 0, 0, 0) + r * (get(ez, 1, 0, 0) - get(ez, 0, 0, 0) - get(ex, 0, 0, 1) + get(ex, 0, 0, 0)),
         get(hz, 0, 0, 0) + r * (get(ex, 0, 1, 0) - get(ex, 0, 0, 0) - get(ey, 1, 0, 0) + get(ey, 0, 0, 0));
}
float driven(float j, float e, float k, float p) { return 0.5 * ((get(keep, 0, 0, 0) + k) * j + (get(plasma, 0, 0, 0) + p) * e); }
CellValue current (jx, jy, jz) {
  return driven(get(jx, 0, 0, 0), get(ex, 0, 0, 0), get(keep, 1, 0, 0), get(plasma, 1, 0, 0)),
         driven(get(jy, 0, 0, 0), get(ey, 0, 0, 0), get(keep, 0, 1, 0), get(plasma, 0, 1, 0)),
         driven(get(jz, 0, 0, 0), get(ez, 0, 0, 0), get(keep, 0, 0, 1), get(plasma, 0, 0, 1));
}
CellValue electric (ex, ey, ez) {
  return get(ex, 0, 0, 0) + r * (get(hz, 0, 0, 0) - get(hz, 0, -1, 0) - get(hy, 0, 0, 0) + get(hy, 0, 0, -1)) - get(jx, 0, 0, 0),
         get(ey, 0, 0, 0) + r * (get(hx, 0, 0, 0) - get(hx, 0, 0, -1) - get(hz, 0, 0, 0) + get(hz, -1, 0, 0)) - get(jy, 0, 0, 0),
         get(ez, 0, 0, 0) + r * (get(hy, 0, 0, 0) - get(hy, -1, 0, 0) - get(hx, 0, 0, 0) + get(hx, 0, -1, 0)) - get(jz, 0, 0, 0);
}
