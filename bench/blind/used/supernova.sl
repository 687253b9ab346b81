# A star that has burst, in a box: gas with five conserved fields, slopes that minmod keeps, the flux of Rusanov, and Heun's two stages. What leaves is gone.
# Source: Toro, "Riemann Solvers and Numerical Methods for Fluid Dynamics" (2009), sections 13.7, 14.4 and 16.2 with the flux of section 10.5.1; Shu and Osher (1988),
# equation 2.15, for the stages.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (d, mx, my, mz, en, d1, mx1, my1, mz1, en1)
Temporary (d1, mx1, my1, mz1, en1)
Boundary clamp
Stages (predict, correct)
DefaultSize (224, 200, 216)
Steps 500
InputRange d (0.9, 1.1)
InputRange mx (-0.3, 0.3)
InputRange my (-0.3, 0.3)
InputRange mz (-0.3, 0.3)
InputRange en (2.4, 2.6)
const float gamma = 1.66667;
const float h = 0.05;         # half of the time step by the mesh width
float minmod(float a, float b) { return a * b <= 0 ? 0.0 : abs(a) < abs(b) ? a : b; }
float tilt(float l, float c, float r) { return 0.5 * minmod(c - l, r - c); }
float pressure(float r, float a, float b, float c, float e) { return (gamma - 1) * (e - 0.5 * (a * a + b * b + c * c) / r); }
CellValue predict (d1, mx1, my1, mz1, en1) {
  float q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0;
  for (int axis = 0; axis <= 2; axis++) {
    const int i = axis == 0 ? 1 : 0, j = axis == 1 ? 1 : 0, k = axis == 2 ? 1 : 0;
    for (int s = 0; s <= 1; s++) {
      float rl = get(d, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(d, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(d, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(d, (s) * i, (s) * j, (s) * k));
      float rr = get(d, (s) * i, (s) * j, (s) * k) - tilt(get(d, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(d, (s) * i, (s) * j, (s) * k), get(d, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float al = get(mx, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(mx, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(mx, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mx, (s) * i, (s) * j, (s) * k));
      float ar = get(mx, (s) * i, (s) * j, (s) * k) - tilt(get(mx, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mx, (s) * i, (s) * j, (s) * k), get(mx, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float bl = get(my, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(my, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(my, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(my, (s) * i, (s) * j, (s) * k));
      float br = get(my, (s) * i, (s) * j, (s) * k) - tilt(get(my, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(my, (s) * i, (s) * j, (s) * k), get(my, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float cl = get(mz, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(mz, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(mz, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mz, (s) * i, (s) * j, (s) * k));
      float cr = get(mz, (s) * i, (s) * j, (s) * k) - tilt(get(mz, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mz, (s) * i, (s) * j, (s) * k), get(mz, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float el = get(en, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(en, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(en, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(en, (s) * i, (s) * j, (s) * k));
      float er = get(en, (s) * i, (s) * j, (s) * k) - tilt(get(en, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(en, (s) * i, (s) * j, (s) * k), get(en, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float pl = pressure(rl, al, bl, cl, el), pr = pressure(rr, ar, br, cr, er);
      float ul = (axis == 0 ? al : axis == 1 ? bl : cl) / rl, ur = (axis == 0 ? ar : axis == 1 ? br : cr) / rr;
      float fast = max(abs(ul) + sqrt(gamma * pl / rl), abs(ur) + sqrt(gamma * pr / rr));
      float sign = s == 0 ? h : -h;
      q0 += sign * (rl * ul + rr * ur - fast * (rr - rl));
      q1 += sign * (al * ul + ar * ur + (axis == 0 ? pl + pr : 0.0) - fast * (ar - al));
      q2 += sign * (bl * ul + br * ur + (axis == 1 ? pl + pr : 0.0) - fast * (br - bl));
      q3 += sign * (cl * ul + cr * ur + (axis == 2 ? pl + pr : 0.0) - fast * (cr - cl));
      q4 += sign * ((el + pl) * ul + (er + pr) * ur - fast * (er - el));
    }
  }
  return get(d, 0, 0, 0) + q0, get(mx, 0, 0, 0) + q1, get(my, 0, 0, 0) + q2, get(mz, 0, 0, 0) + q3, get(en, 0, 0, 0) + q4;
}
CellValue correct (d, mx, my, mz, en) {
  float q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0;
  for (int axis = 0; axis <= 2; axis++) {
    const int i = axis == 0 ? 1 : 0, j = axis == 1 ? 1 : 0, k = axis == 2 ? 1 : 0;
    for (int s = 0; s <= 1; s++) {
      float rl = get(d1, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(d1, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(d1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(d1, (s) * i, (s) * j, (s) * k));
      float rr = get(d1, (s) * i, (s) * j, (s) * k) - tilt(get(d1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(d1, (s) * i, (s) * j, (s) * k), get(d1, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float al = get(mx1, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(mx1, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(mx1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mx1, (s) * i, (s) * j, (s) * k));
      float ar = get(mx1, (s) * i, (s) * j, (s) * k) - tilt(get(mx1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mx1, (s) * i, (s) * j, (s) * k), get(mx1, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float bl = get(my1, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(my1, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(my1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(my1, (s) * i, (s) * j, (s) * k));
      float br = get(my1, (s) * i, (s) * j, (s) * k) - tilt(get(my1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(my1, (s) * i, (s) * j, (s) * k), get(my1, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float cl = get(mz1, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(mz1, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(mz1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mz1, (s) * i, (s) * j, (s) * k));
      float cr = get(mz1, (s) * i, (s) * j, (s) * k) - tilt(get(mz1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(mz1, (s) * i, (s) * j, (s) * k), get(mz1, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float el = get(en1, (s - 1) * i, (s - 1) * j, (s - 1) * k) + tilt(get(en1, (s - 2) * i, (s - 2) * j, (s - 2) * k), get(en1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(en1, (s) * i, (s) * j, (s) * k));
      float er = get(en1, (s) * i, (s) * j, (s) * k) - tilt(get(en1, (s - 1) * i, (s - 1) * j, (s - 1) * k), get(en1, (s) * i, (s) * j, (s) * k), get(en1, (s + 1) * i, (s + 1) * j, (s + 1) * k));
      float pl = pressure(rl, al, bl, cl, el), pr = pressure(rr, ar, br, cr, er);
      float ul = (axis == 0 ? al : axis == 1 ? bl : cl) / rl, ur = (axis == 0 ? ar : axis == 1 ? br : cr) / rr;
      float fast = max(abs(ul) + sqrt(gamma * pl / rl), abs(ur) + sqrt(gamma * pr / rr));
      float sign = s == 0 ? h : -h;
      q0 += sign * (rl * ul + rr * ur - fast * (rr - rl));
      q1 += sign * (al * ul + ar * ur + (axis == 0 ? pl + pr : 0.0) - fast * (ar - al));
      q2 += sign * (bl * ul + br * ur + (axis == 1 ? pl + pr : 0.0) - fast * (br - bl));
      q3 += sign * (cl * ul + cr * ur + (axis == 2 ? pl + pr : 0.0) - fast * (cr - cl));
      q4 += sign * ((el + pl) * ul + (er + pr) * ur - fast * (er - el));
    }
  }
  return 0.5 * (get(d, 0, 0, 0) + get(d1, 0, 0, 0) + q0), 0.5 * (get(mx, 0, 0, 0) + get(mx1, 0, 0, 0) + q1), 0.5 * (get(my, 0, 0, 0) + get(my1, 0, 0, 0) + q2), 0.5 * (get(mz, 0, 0, 0) + get(mz1, 0, 0, 0) + q3), 0.5 * (get(en, 0, 0, 0) + get(en1, 0, 0, 0) + q4);
}
