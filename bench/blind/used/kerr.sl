# A beam of light so bright that it bends its own way: Maxwell's equations in the plane with a Kerr medium, the magnetic field out of it, electric displacement and field in it, all staggered; walls conduct.
# Source: Joseph and Taflove, "FDTD Maxwell's equations models for nonlinear electrodynamics and optics" (1997), section III, the instantaneous nonlinearity alone; Yee (1966).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (hz, px, py, ex, ey)
ReadOnly (eps: float16)
Short (hz x y, px x, ex x, py y, ey y)
Boundary px y fixed
Boundary py x fixed
ScalarVariables (float chi = 0.07)
Stages (magnetic, displacement, material)
DefaultSize (2201, 1401)
Steps 3000
InputRange hz (-1, 1)
InputRange px (-1, 1)
InputRange py (-1, 1)
InputRange ex (-0.5, 0.5)
InputRange ey (-0.5, 0.5)
InputRange eps (1, 2.25)
InputRange beam (-1, 1)
const float c = 0.5;
CellValue magnetic (hz) {
  return get(hz, 0, 0) + c * (get(ex, 0, 1) - get(ex, 0, 0) - get(ey, 1, 0) + get(ey, 0, 0));
}
CellValue displacement (px, py) {
  return get(px, 0, 0) + c * (get(hz, 0, 0) - get(hz, 0, -1)), get(py, 0, 0) - c * (get(hz, 0, 0) - get(hz, -1, 0));
}
CellValue material (ex, ey) {
  float sx = 0.25 * (get(ex, 0, 0) + get(ex, -1, 0) + get(ex, 0, 1) + get(ex, -1, 1));
  float sy = 0.25 * (get(ey, 0, 0) + get(ey, 1, 0) + get(ey, 0, -1) + get(ey, 1, -1));
  float dx = get(px, 0, 0), dy = get(py, 0, 0), e = get(eps, 0, 0), a = get(ex, 0, 0), b = get(ey, 0, 0);
  for (int n = 0; n < 3; n++) {
    a = dx / (e + chi * (a * a + sy * sy));
    b = dy / (e + chi * (b * b + sx * sx));
  }
  return a, b;
}
Sources beam (hz) { return get(hz, 0, 0) + value; }
Receivers port { return get(hz, 0, 0) * 0.5 * (get(ey, 0, 0) + get(ey, 1, 0)); }
