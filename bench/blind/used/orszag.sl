# A magnetised plasma in the plane that repeats (Orszag and Tang's): density, three momenta, three components of the field and energy, the flux of Lax and Friedrichs with the
# fastest wave of either cell, and Heun's two stages. The field's divergence is left to another program.
# Source: Toth and Odstrcil, "Comparison of some flux corrected transport and total variation diminishing numerical schemes" (1996), section 2.1, equations 1 to 8, first order in space;
# Orszag and Tang (1979); Shu and Osher (1988), equation 2.15.
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (rho, mx, my, mz, bx, by, bz, en, rho1, mx1, my1, mz1, bx1, by1, bz1, en1)
Temporary (rho1, mx1, my1, mz1, bx1, by1, bz1, en1)
Boundary wrap
Stages (predict, correct)
DefaultSize (1536, 1500)
Steps 500
InputRange rho (0.9, 1.1)
InputRange mx (-0.4, 0.4)
InputRange my (-0.4, 0.4)
InputRange mz (-0.4, 0.4)
InputRange bx (-0.4, 0.4)
InputRange by (-0.4, 0.4)
InputRange bz (-0.4, 0.4)
InputRange en (3.5, 4)
const double gamma = 1.66667;
const double h = 0.02;
double inner(double a, double b, double c) { return a * a + b * b + c * c; }
double pressure(double d, double m2, double b2, double e) { return (gamma - 1) * (e - 0.5 * m2 / d - 0.5 * b2); }
double fastest(double d, double m, double b, double p, double b2) {
  double s = (gamma * p + b2) / d;
  return abs(m) / d + sqrt(0.5 * (s + sqrt(max(s * s - 4 * gamma * p * b * b / (d * d), 0))));
}
CellValue predict (rho1, mx1, my1, mz1, bx1, by1, bz1, en1) {
  double q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0, q5 = 0, q6 = 0, q7 = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    for (int s = 0; s <= 1; s++) {
      double a_l = get(rho, (s - 1) * i, (s - 1) * j), b_l = get(mx, (s - 1) * i, (s - 1) * j), c_l = get(my, (s - 1) * i, (s - 1) * j), d_l = get(mz, (s - 1) * i, (s - 1) * j), e_l = get(bx, (s - 1) * i, (s - 1) * j), f_l = get(by, (s - 1) * i, (s - 1) * j), g_l = get(bz, (s - 1) * i, (s - 1) * j), h_l = get(en, (s - 1) * i, (s - 1) * j);
      double b2l = inner(e_l, f_l, g_l), pl = pressure(a_l, inner(b_l, c_l, d_l), b2l, h_l);
      double ul = (axis == 0 ? b_l : c_l) / a_l, nl = axis == 0 ? e_l : f_l, wl = (b_l * e_l + c_l * f_l + d_l * g_l) / a_l;
      double fl = fastest(a_l, axis == 0 ? b_l : c_l, nl, pl, b2l);
      double a_r = get(rho, s * i, s * j), b_r = get(mx, s * i, s * j), c_r = get(my, s * i, s * j), d_r = get(mz, s * i, s * j), e_r = get(bx, s * i, s * j), f_r = get(by, s * i, s * j), g_r = get(bz, s * i, s * j), h_r = get(en, s * i, s * j);
      double b2r = inner(e_r, f_r, g_r), pr = pressure(a_r, inner(b_r, c_r, d_r), b2r, h_r);
      double ur = (axis == 0 ? b_r : c_r) / a_r, nr = axis == 0 ? e_r : f_r, wr = (b_r * e_r + c_r * f_r + d_r * g_r) / a_r;
      double fr = fastest(a_r, axis == 0 ? b_r : c_r, nr, pr, b2r);
      double c = max(fl, fr), sign = s == 0 ? h : -h;
      q0 += sign * (a_l * ul + a_r * ur - c * (a_r - a_l));
      q1 += sign * (b_l * ul - nl * e_l + (axis == 0 ? pl + 0.5 * b2l : 0.0) + b_r * ur - nr * e_r + (axis == 0 ? pr + 0.5 * b2r : 0.0) - c * (b_r - b_l));
      q2 += sign * (c_l * ul - nl * f_l + (axis == 1 ? pl + 0.5 * b2l : 0.0) + c_r * ur - nr * f_r + (axis == 1 ? pr + 0.5 * b2r : 0.0) - c * (c_r - c_l));
      q3 += sign * (d_l * ul - nl * g_l + d_r * ur - nr * g_r - c * (d_r - d_l));
      q4 += sign * (e_l * ul - nl * b_l / a_l + e_r * ur - nr * b_r / a_r - c * (e_r - e_l));
      q5 += sign * (f_l * ul - nl * c_l / a_l + f_r * ur - nr * c_r / a_r - c * (f_r - f_l));
      q6 += sign * (g_l * ul - nl * d_l / a_l + g_r * ur - nr * d_r / a_r - c * (g_r - g_l));
      q7 += sign * ((h_l + pl + 0.5 * b2l) * ul - nl * wl + (h_r + pr + 0.5 * b2r) * ur - nr * wr - c * (h_r - h_l));
    }
  }
  return get(rho, 0, 0) + q0, get(mx, 0, 0) + q1, get(my, 0, 0) + q2, get(mz, 0, 0) + q3, get(bx, 0, 0) + q4, get(by, 0, 0) + q5, get(bz, 0, 0) + q6, get(en, 0, 0) + q7;
}
CellValue correct (rho, mx, my, mz, bx, by, bz, en) {
  double q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0, q5 = 0, q6 = 0, q7 = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    for (int s = 0; s <= 1; s++) {
      double a_l = get(rho1, (s - 1) * i, (s - 1) * j), b_l = get(mx1, (s - 1) * i, (s - 1) * j), c_l = get(my1, (s - 1) * i, (s - 1) * j), d_l = get(mz1, (s - 1) * i, (s - 1) * j), e_l = get(bx1, (s - 1) * i, (s - 1) * j), f_l = get(by1, (s - 1) * i, (s - 1) * j), g_l = get(bz1, (s - 1) * i, (s - 1) * j), h_l = get(en1, (s - 1) * i, (s - 1) * j);
      double b2l = inner(e_l, f_l, g_l), pl = pressure(a_l, inner(b_l, c_l, d_l), b2l, h_l);
      double ul = (axis == 0 ? b_l : c_l) / a_l, nl = axis == 0 ? e_l : f_l, wl = (b_l * e_l + c_l * f_l + d_l * g_l) / a_l;
      double fl = fastest(a_l, axis == 0 ? b_l : c_l, nl, pl, b2l);
      double a_r = get(rho1, s * i, s * j), b_r = get(mx1, s * i, s * j), c_r = get(my1, s * i, s * j), d_r = get(mz1, s * i, s * j), e_r = get(bx1, s * i, s * j), f_r = get(by1, s * i, s * j), g_r = get(bz1, s * i, s * j), h_r = get(en1, s * i, s * j);
      double b2r = inner(e_r, f_r, g_r), pr = pressure(a_r, inner(b_r, c_r, d_r), b2r, h_r);
      double ur = (axis == 0 ? b_r : c_r) / a_r, nr = axis == 0 ? e_r : f_r, wr = (b_r * e_r + c_r * f_r + d_r * g_r) / a_r;
      double fr = fastest(a_r, axis == 0 ? b_r : c_r, nr, pr, b2r);
      double c = max(fl, fr), sign = s == 0 ? h : -h;
      q0 += sign * (a_l * ul + a_r * ur - c * (a_r - a_l));
      q1 += sign * (b_l * ul - nl * e_l + (axis == 0 ? pl + 0.5 * b2l : 0.0) + b_r * ur - nr * e_r + (axis == 0 ? pr + 0.5 * b2r : 0.0) - c * (b_r - b_l));
      q2 += sign * (c_l * ul - nl * f_l + (axis == 1 ? pl + 0.5 * b2l : 0.0) + c_r * ur - nr * f_r + (axis == 1 ? pr + 0.5 * b2r : 0.0) - c * (c_r - c_l));
      q3 += sign * (d_l * ul - nl * g_l + d_r * ur - nr * g_r - c * (d_r - d_l));
      q4 += sign * (e_l * ul - nl * b_l / a_l + e_r * ur - nr * b_r / a_r - c * (e_r - e_l));
      q5 += sign * (f_l * ul - nl * c_l / a_l + f_r * ur - nr * c_r / a_r - c * (f_r - f_l));
      q6 += sign * (g_l * ul - nl * d_l / a_l + g_r * ur - nr * d_r / a_r - c * (g_r - g_l));
      q7 += sign * ((h_l + pl + 0.5 * b2l) * ul - nl * wl + (h_r + pr + 0.5 * b2r) * ur - nr * wr - c * (h_r - h_l));
    }
  }
  return 0.5 * (get(rho, 0, 0) + get(rho1, 0, 0) + q0), 0.5 * (get(mx, 0, 0) + get(mx1, 0, 0) + q1), 0.5 * (get(my, 0, 0) + get(my1, 0, 0) + q2), 0.5 * (get(mz, 0, 0) + get(mz1, 0, 0) + q3), 0.5 * (get(bx, 0, 0) + get(bx1, 0, 0) + q4), 0.5 * (get(by, 0, 0) + get(by1, 0, 0) + q5), 0.5 * (get(bz, 0, 0) + get(bz1, 0, 0) + q6), 0.5 * (get(en, 0, 0) + get(en1, 0, 0) + q7);
}
