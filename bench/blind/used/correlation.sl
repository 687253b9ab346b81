# How alike two volumes are around each voxel, whatever their brightness: the squared correlation of what lies in boxes of 5 x 5 x 5, and the force that it puts on the moving volume. Applied once.
# Source: Avants, Epstein, Grossman and Gee, "Symmetric diffeomorphic image registration with cross-correlation" (2008), section 2.3, equations 5 and 6.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (cc, fx, fy, fz)
ReadOnly (still, moving)
Boundary clamp
DefaultSize (320, 320, 256)
Steps 1
InputRange still (0, 1)
InputRange moving (0, 1)
CellValue (cc, fx, fy, fz) {
  float si = 0, sj = 0, sii = 0, sjj = 0, sij = 0;
  for (int k = -2; k <= 2; k++)
    for (int j = -2; j <= 2; j++)
      for (int i = -2; i <= 2; i++) {
        si += get(still, i, j, k);
        sj += get(moving, i, j, k);
        sii += get(still, i, j, k) * get(still, i, j, k);
        sjj += get(moving, i, j, k) * get(moving, i, j, k);
        sij += get(still, i, j, k) * get(moving, i, j, k);
      }
  float mi = si / 125, mj = sj / 125;
  float a = sij - 125 * mi * mj, b = sii - 125 * mi * mi + 0.001, c = sjj - 125 * mj * mj + 0.001;
  float ii = get(still, 0, 0, 0) - mi, jj = get(moving, 0, 0, 0) - mj;
  float force = 2 * a / (b * c) * (ii - a / c * jj);
  return a * a / (b * c), force * 0.5 * (get(moving, 1, 0, 0) - get(moving, -1, 0, 0)), force * 0.5 * (get(moving, 0, 1, 0) - get(moving, 0, -1, 0)), force * 0.5 * (get(moving, 0, 0, 1) - get(moving, 0, 0, -1));
}
