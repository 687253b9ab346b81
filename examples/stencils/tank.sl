# Sound in a tank of water: pressure in the cells, velocity on their sides; walls are rigid, and at the surface, the high end of y, the pressure is 0.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (p, u, v)
ReadOnly (k)
Short (p x y, u y, v x, k x y)
Boundary p constant 0
Boundary u x fixed
Boundary v y (fixed, clamp)
InputRange k (0.2, 0.4)
Stages (velocity, pressure)
CellValue velocity (u, v) {
  return get(u, 0, 0) - 0.5 * (get(p, 0, 0) - get(p, -1, 0)),
         get(v, 0, 0) - 0.5 * (get(p, 0, 0) - get(p, 0, -1));
}
CellValue pressure (p) {
  return get(p, 0, 0) - get(k, 0, 0) * (get(u, 1, 0) - get(u, 0, 0) + get(v, 0, 1) - get(v, 0, 0));
}
