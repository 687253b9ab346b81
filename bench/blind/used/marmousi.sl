# Seismic waves in a section of the earth, eighth order in space, with a sponge along its edges.
# Source: Levander, "Fourth-order finite-difference P-SV seismograms" (1988) for the use; Fornberg (1988) for the
# weights; Cerjan et al., "A nonreflecting boundary condition for discrete acoustic and elastic wave equations" (1985) for the sponge.
NumDimensions 2
StencilSize (4, 4)
DataType float
Fields (u, old)
ReadOnly (m, sx[x], sy[y])
Boundary constant 0
DefaultSize (9201, 3001)
InputRange m (0.05, 0.25)
InputRange sx (0.92, 1)
InputRange sy (0.92, 1)
const float c[5] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
CellValue {
  float lap = 2 * c[0] * get(u, 0, 0);
  for (int k = 1; k <= 4; k++)
    lap += c[k] * (get(u, -k, 0) + get(u, k, 0) + get(u, 0, -k) + get(u, 0, k));
  float g = get(sx, 0) * get(sy, 0);
  return g * (2 * get(u, 0, 0) - g * get(old, 0, 0) + get(m, 0, 0) * lap), g * get(u, 0, 0);
}
