# A gas without heat conduction in a box with walls that let through nothing: its pressure is a power of its density. Lax and Friedrichs' scheme.
# Source: LeVeque, "Finite Volume Methods for Hyperbolic Problems" (2002), section 14.5, isentropic flow; section 4.6, the scheme.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (r, u, v, w)
Boundary mirror
DefaultSize (300, 260, 280)
Steps 100
InputRange r (0.8, 1.2)
InputRange u (-0.1, 0.1)
InputRange v (-0.1, 0.1)
InputRange w (-0.1, 0.1)
const float gamma = 1.4;
const float k = 0.1;
float pressure(float density) { return pow(density, gamma); }
CellValue {
  float rw = get(r, -1, 0, 0), re = get(r, 1, 0, 0), rs = get(r, 0, -1, 0), rn = get(r, 0, 1, 0), rd = get(r, 0, 0, -1), ru = get(r, 0, 0, 1);
  float uw = get(u, -1, 0, 0), ue = get(u, 1, 0, 0), vs = get(v, 0, -1, 0), vn = get(v, 0, 1, 0), wd = get(w, 0, 0, -1), wu = get(w, 0, 0, 1);
  float sixth = 1.0 / 6;
  float mass = sixth * (rw + re + rs + rn + rd + ru) - 0.5 * k * (ue - uw + vn - vs + wu - wd);
  float mx = sixth * (uw + ue + get(u, 0, -1, 0) + get(u, 0, 1, 0) + get(u, 0, 0, -1) + get(u, 0, 0, 1))
    - 0.5 * k * (ue * ue / re + pressure(re) - uw * uw / rw - pressure(rw)
    + get(u, 0, 1, 0) * vn / rn - get(u, 0, -1, 0) * vs / rs + get(u, 0, 0, 1) * wu / ru - get(u, 0, 0, -1) * wd / rd);
  float my = sixth * (get(v, -1, 0, 0) + get(v, 1, 0, 0) + vs + vn + get(v, 0, 0, -1) + get(v, 0, 0, 1))
    - 0.5 * k * (vn * vn / rn + pressure(rn) - vs * vs / rs - pressure(rs)
    + get(v, 1, 0, 0) * ue / re - get(v, -1, 0, 0) * uw / rw + get(v, 0, 0, 1) * wu / ru - get(v, 0, 0, -1) * wd / rd);
  float mz = sixth * (get(w, -1, 0, 0) + get(w, 1, 0, 0) + get(w, 0, -1, 0) + get(w, 0, 1, 0) + wd + wu)
    - 0.5 * k * (wu * wu / ru + pressure(ru) - wd * wd / rd - pressure(rd)
    + get(w, 1, 0, 0) * ue / re - get(w, -1, 0, 0) * uw / rw + get(w, 0, 1, 0) * vn / rn - get(w, 0, -1, 0) * vs / rs);
  return mass, mx, my, mz;
}
