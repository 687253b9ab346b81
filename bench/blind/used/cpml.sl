# Light in the plane with layers at the edges that swallow it: the field out of the plane, two in it, and four that remember what the layers have damped. The coefficients of the layers lie along each axis.
# Source: Roden and Gedney, "Convolution PML (CPML): an efficient FDTD implementation of the CFS-PML for arbitrary media" (2000), equations 19 to 25; Taflove and Hagness, chapter 7.9.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (ez, hx, hy, pzx, pzy, px, py)
ReadOnly (eps, bx[x], cx[x], by[y], cy[y])
Boundary constant 0
Boundary bx clamp
Boundary cx clamp
Boundary by clamp
Boundary cy clamp
Stages (magnetic, electric)
DefaultSize (4096, 4096)
Steps 2000
InputRange eps (0.2, 0.5)
InputRange bx (0.8, 1)
InputRange cx (-0.2, 0)
InputRange by (0.8, 1)
InputRange cy (-0.2, 0)
const float c = 0.5;
CellValue magnetic (hx, hy, px, py) {
  float dy = get(ez, 0, 1) - get(ez, 0, 0), dx = get(ez, 1, 0) - get(ez, 0, 0);
  float ty = get(by, 0) * get(py, 0, 0) + get(cy, 0) * dy, tx = get(bx, 0) * get(px, 0, 0) + get(cx, 0) * dx;
  return get(hx, 0, 0) - c * (dy + ty), get(hy, 0, 0) + c * (dx + tx), tx, ty;
}
CellValue electric (ez, pzx, pzy) {
  float dx = get(hy, 0, 0) - get(hy, -1, 0), dy = get(hx, 0, 0) - get(hx, 0, -1);
  float tx = get(bx, 0) * get(pzx, 0, 0) + get(cx, 0) * dx, ty = get(by, 0) * get(pzy, 0, 0) + get(cy, 0) * dy;
  return get(ez, 0, 0) + get(eps, 0, 0) * (dx + tx - dy - ty), tx, ty;
}
