# How far each voxel of a scan lies from the nearest one of an object, exactly: how many voxels along x, y and z it is to that (999 of what is not known yet). All voxels look
# at once at their 26 neighbours, and take what is nearer by way of one.
# Source: Danielsson, "Euclidean distance mapping" (1980), what is kept of a cell; Yamada, "Complete Euclidean distance transformation by parallel operation" (1984), all cells
# at once with neighbours across corners; in three dimensions as Ragnemalm, "The Euclidean distance transform in arbitrary dimensions" (1993).
NumDimensions 3
StencilSize (1, 1, 1)
DataType int32
Fields (i: uint16, j: uint16, k: uint16)
ReadOnly (object: uint8)
Boundary clamp
DefaultSize (401, 397, 403)
Steps 150
InputRange i {999}
InputRange j {999}
InputRange k {999}
InputRange object {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
CellValue {
  if (get(object, 0, 0, 0) != 0) return 0, 0, 0;
  int a = get(i, 0, 0, 0), b = get(j, 0, 0, 0), c = get(k, 0, 0, 0);
  int least = a * a + b * b + c * c;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++)
        if (dx != 0 || dy != 0 || dz != 0) {
          int p = get(i, dx, dy, dz) + abs(dx), q = get(j, dx, dy, dz) + abs(dy), r = get(k, dx, dy, dz) + abs(dz);
          int square = p * p + q * q + r * r;
          if (square < least) {
            least = square;
            a = p;
            b = q;
            c = r;
          }
        }
  return min(a, 999), min(b, 999), min(c, 999);
}
