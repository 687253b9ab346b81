# A plate of a composite without stresses or slopes: each point is bound to the 28 others within three mesh widths, by springs along the line to where they are now, whose stiffness
# is the mean of both ends'. Displacements now (u, v) and a step before (us, vs), in mesh widths; light is 1 over the density. A layer as deep as the bonds is held.
# Source: Silling, "Reformulation of elasticity theory for discontinuities and long-range forces" (2000); Silling and Askari, "A meshfree method based on the peridynamic model
# of solid mechanics" (2005), the micro-elastic material before it breaks and its step in time; the horizon of 3.015 of Madenci and Oterkus (2014).
NumDimensions 2
StencilSize (3, 3)
DataType double
Fields (u, v, us, vs)
ReadOnly (stiff, light)
Boundary fixed
DefaultSize (3501, 2503)
Steps 2000
InputRange (-0.01, 0.01)
InputRange stiff (0.02, 0.05)    # with the squared time step
InputRange light (0.8, 1.2)
const double apart[10] = {0, 1, 1.4142135623730951, 0, 2, 2.23606797749979, 0, 0, 2.8284271247461903, 3};    # by its square
CellValue {
  double fx = 0, fy = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++)
      if (i * i + j * j > 0 && i * i + j * j <= 9) {
        double dx = i + get(u, i, j) - get(u, 0, 0), dy = j + get(v, i, j) - get(v, 0, 0);
        double now = sqrt(dx * dx + dy * dy), before = apart[i * i + j * j];
        double pull = 0.5 * (get(stiff, 0, 0) + get(stiff, i, j)) * (now - before) / (before * now);
        fx += pull * dx;
        fy += pull * dy;
      }
  return 2 * get(u, 0, 0) - get(us, 0, 0) + get(light, 0, 0) * fx, 2 * get(v, 0, 0) - get(vs, 0, 0) + get(light, 0, 0) * fy, get(u, 0, 0), get(v, 0, 0);
}
