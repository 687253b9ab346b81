# Sound in a volume, eighth order in space and second in time: the new pressure
# from the two levels before; v2 is the square of the velocity times the time step
# over the mesh width. Nothing sounds outside.
# Source: the isotropic acoustic wave equation with a radius of 4, as YASK's iso3dfd
# and Devito's acoustic example compute it; weights of the eighth-order second
# difference from Fornberg, "Generation of finite difference formulas on
# arbitrarily spaced grids" (1988), table 1.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
Fields (p, before)
ReadOnly (v2)
Boundary constant 0
DefaultSize (512, 512, 512)
Steps 1000
CellValue {
  float c = get(p, 0, 0, 0);
  float laplace = 3.0 * -2.8472222222222223 * c;
  for (int i = 1; i <= 4; i++) {
    float ring = get(p, -i, 0, 0) + get(p, i, 0, 0) + get(p, 0, -i, 0) + get(p, 0, i, 0) + get(p, 0, 0, -i) + get(p, 0, 0, i);
    if (i == 1) laplace += 1.6 * ring;
    if (i == 2) laplace -= 0.2 * ring;
    if (i == 3) laplace += 0.025396825396825397 * ring;
    if (i == 4) laplace -= 0.0017857142857142857 * ring;
  }
  return 2.0 * c - get(before, 0, 0, 0) + 0.1 * get(v2, 0, 0, 0) * laplace, c;
}
