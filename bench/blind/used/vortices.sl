# Gas in the plane that repeats: density, momentum and energy, slopes that minmod keeps, the flux of Rusanov, and a step of three stages (Shu and Osher's Runge and Kutta).
# Source: Kurganov and Tadmor, "New high-resolution central schemes" (2000), section 4, equation 4.4 in two dimensions; Shu and Osher (1988), equation 2.18.
NumDimensions 2
StencilSize (2, 2)
DataType double
Fields (rho, mx, my, en, rho1, mx1, my1, en1, rho2, mx2, my2, en2)
Temporary (rho1, mx1, my1, en1, rho2, mx2, my2, en2)
Boundary wrap
Stages (first, second, third)
DefaultSize (2048, 2000)
Steps 300
InputRange rho (0.9, 1.1)
InputRange mx (-0.3, 0.3)
InputRange my (-0.3, 0.3)
InputRange en (2.4, 2.6)
const double gamma = 1.4;
const double k = 0.1;         # the time step by the mesh width
double minmod(double a, double b) { return a * b <= 0 ? 0.0 : abs(a) < abs(b) ? a : b; }
double tilt(double l, double c, double r) { return 0.5 * minmod(c - l, r - c); }
double pressure(double r, double a, double b, double e) { return (gamma - 1) * (e - 0.5 * (a * a + b * b) / r); }
double speed(double r, double a, double b, double e) { return abs(a / r) + sqrt(gamma * pressure(r, a, b, e) / r); }
double flux(double fl, double fr, double s, double ul, double ur) { return 0.5 * (fl + fr - s * (ur - ul)); }
CellValue first (rho1, mx1, my1, en1) {
  double dr = 0, da = 0, db = 0, de = 0;
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho, s - 1, 0) + tilt(get(rho, s - 2, 0), get(rho, s - 1, 0), get(rho, s, 0)), rr = get(rho, s, 0) - tilt(get(rho, s - 1, 0), get(rho, s, 0), get(rho, s + 1, 0));
    double al = get(mx, s - 1, 0) + tilt(get(mx, s - 2, 0), get(mx, s - 1, 0), get(mx, s, 0)), ar = get(mx, s, 0) - tilt(get(mx, s - 1, 0), get(mx, s, 0), get(mx, s + 1, 0));
    double bl = get(my, s - 1, 0) + tilt(get(my, s - 2, 0), get(my, s - 1, 0), get(my, s, 0)), br = get(my, s, 0) - tilt(get(my, s - 1, 0), get(my, s, 0), get(my, s + 1, 0));
    double el = get(en, s - 1, 0) + tilt(get(en, s - 2, 0), get(en, s - 1, 0), get(en, s, 0)), er = get(en, s, 0) - tilt(get(en, s - 1, 0), get(en, s, 0), get(en, s + 1, 0));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, al, bl, el), speed(rr, ar, br, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(al, ar, c, rl, rr);
    da += sign * flux(al * al / rl + pl, ar * ar / rr + pr, c, al, ar);
    db += sign * flux(al * bl / rl, ar * br / rr, c, bl, br);
    de += sign * flux(al / rl * (el + pl), ar / rr * (er + pr), c, el, er);
  }
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho, 0, s - 1) + tilt(get(rho, 0, s - 2), get(rho, 0, s - 1), get(rho, 0, s)), rr = get(rho, 0, s) - tilt(get(rho, 0, s - 1), get(rho, 0, s), get(rho, 0, s + 1));
    double al = get(mx, 0, s - 1) + tilt(get(mx, 0, s - 2), get(mx, 0, s - 1), get(mx, 0, s)), ar = get(mx, 0, s) - tilt(get(mx, 0, s - 1), get(mx, 0, s), get(mx, 0, s + 1));
    double bl = get(my, 0, s - 1) + tilt(get(my, 0, s - 2), get(my, 0, s - 1), get(my, 0, s)), br = get(my, 0, s) - tilt(get(my, 0, s - 1), get(my, 0, s), get(my, 0, s + 1));
    double el = get(en, 0, s - 1) + tilt(get(en, 0, s - 2), get(en, 0, s - 1), get(en, 0, s)), er = get(en, 0, s) - tilt(get(en, 0, s - 1), get(en, 0, s), get(en, 0, s + 1));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, bl, al, el), speed(rr, br, ar, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(bl, br, c, rl, rr);
    da += sign * flux(al * bl / rl, ar * br / rr, c, al, ar);
    db += sign * flux(bl * bl / rl + pl, br * br / rr + pr, c, bl, br);
    de += sign * flux(bl / rl * (el + pl), br / rr * (er + pr), c, el, er);
  }
  return get(rho, 0, 0) + dr, get(mx, 0, 0) + da, get(my, 0, 0) + db, get(en, 0, 0) + de;
}
CellValue second (rho2, mx2, my2, en2) {
  double dr = 0, da = 0, db = 0, de = 0;
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho1, s - 1, 0) + tilt(get(rho1, s - 2, 0), get(rho1, s - 1, 0), get(rho1, s, 0)), rr = get(rho1, s, 0) - tilt(get(rho1, s - 1, 0), get(rho1, s, 0), get(rho1, s + 1, 0));
    double al = get(mx1, s - 1, 0) + tilt(get(mx1, s - 2, 0), get(mx1, s - 1, 0), get(mx1, s, 0)), ar = get(mx1, s, 0) - tilt(get(mx1, s - 1, 0), get(mx1, s, 0), get(mx1, s + 1, 0));
    double bl = get(my1, s - 1, 0) + tilt(get(my1, s - 2, 0), get(my1, s - 1, 0), get(my1, s, 0)), br = get(my1, s, 0) - tilt(get(my1, s - 1, 0), get(my1, s, 0), get(my1, s + 1, 0));
    double el = get(en1, s - 1, 0) + tilt(get(en1, s - 2, 0), get(en1, s - 1, 0), get(en1, s, 0)), er = get(en1, s, 0) - tilt(get(en1, s - 1, 0), get(en1, s, 0), get(en1, s + 1, 0));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, al, bl, el), speed(rr, ar, br, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(al, ar, c, rl, rr);
    da += sign * flux(al * al / rl + pl, ar * ar / rr + pr, c, al, ar);
    db += sign * flux(al * bl / rl, ar * br / rr, c, bl, br);
    de += sign * flux(al / rl * (el + pl), ar / rr * (er + pr), c, el, er);
  }
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho1, 0, s - 1) + tilt(get(rho1, 0, s - 2), get(rho1, 0, s - 1), get(rho1, 0, s)), rr = get(rho1, 0, s) - tilt(get(rho1, 0, s - 1), get(rho1, 0, s), get(rho1, 0, s + 1));
    double al = get(mx1, 0, s - 1) + tilt(get(mx1, 0, s - 2), get(mx1, 0, s - 1), get(mx1, 0, s)), ar = get(mx1, 0, s) - tilt(get(mx1, 0, s - 1), get(mx1, 0, s), get(mx1, 0, s + 1));
    double bl = get(my1, 0, s - 1) + tilt(get(my1, 0, s - 2), get(my1, 0, s - 1), get(my1, 0, s)), br = get(my1, 0, s) - tilt(get(my1, 0, s - 1), get(my1, 0, s), get(my1, 0, s + 1));
    double el = get(en1, 0, s - 1) + tilt(get(en1, 0, s - 2), get(en1, 0, s - 1), get(en1, 0, s)), er = get(en1, 0, s) - tilt(get(en1, 0, s - 1), get(en1, 0, s), get(en1, 0, s + 1));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, bl, al, el), speed(rr, br, ar, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(bl, br, c, rl, rr);
    da += sign * flux(al * bl / rl, ar * br / rr, c, al, ar);
    db += sign * flux(bl * bl / rl + pl, br * br / rr + pr, c, bl, br);
    de += sign * flux(bl / rl * (el + pl), br / rr * (er + pr), c, el, er);
  }
  return 0.75 * get(rho, 0, 0) + 0.25 * (get(rho1, 0, 0) + dr), 0.75 * get(mx, 0, 0) + 0.25 * (get(mx1, 0, 0) + da), 0.75 * get(my, 0, 0) + 0.25 * (get(my1, 0, 0) + db), 0.75 * get(en, 0, 0) + 0.25 * (get(en1, 0, 0) + de);
}
CellValue third (rho, mx, my, en) {
  double dr = 0, da = 0, db = 0, de = 0;
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho2, s - 1, 0) + tilt(get(rho2, s - 2, 0), get(rho2, s - 1, 0), get(rho2, s, 0)), rr = get(rho2, s, 0) - tilt(get(rho2, s - 1, 0), get(rho2, s, 0), get(rho2, s + 1, 0));
    double al = get(mx2, s - 1, 0) + tilt(get(mx2, s - 2, 0), get(mx2, s - 1, 0), get(mx2, s, 0)), ar = get(mx2, s, 0) - tilt(get(mx2, s - 1, 0), get(mx2, s, 0), get(mx2, s + 1, 0));
    double bl = get(my2, s - 1, 0) + tilt(get(my2, s - 2, 0), get(my2, s - 1, 0), get(my2, s, 0)), br = get(my2, s, 0) - tilt(get(my2, s - 1, 0), get(my2, s, 0), get(my2, s + 1, 0));
    double el = get(en2, s - 1, 0) + tilt(get(en2, s - 2, 0), get(en2, s - 1, 0), get(en2, s, 0)), er = get(en2, s, 0) - tilt(get(en2, s - 1, 0), get(en2, s, 0), get(en2, s + 1, 0));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, al, bl, el), speed(rr, ar, br, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(al, ar, c, rl, rr);
    da += sign * flux(al * al / rl + pl, ar * ar / rr + pr, c, al, ar);
    db += sign * flux(al * bl / rl, ar * br / rr, c, bl, br);
    de += sign * flux(al / rl * (el + pl), ar / rr * (er + pr), c, el, er);
  }
  for (int s = 0; s <= 1; s++) {
    double rl = get(rho2, 0, s - 1) + tilt(get(rho2, 0, s - 2), get(rho2, 0, s - 1), get(rho2, 0, s)), rr = get(rho2, 0, s) - tilt(get(rho2, 0, s - 1), get(rho2, 0, s), get(rho2, 0, s + 1));
    double al = get(mx2, 0, s - 1) + tilt(get(mx2, 0, s - 2), get(mx2, 0, s - 1), get(mx2, 0, s)), ar = get(mx2, 0, s) - tilt(get(mx2, 0, s - 1), get(mx2, 0, s), get(mx2, 0, s + 1));
    double bl = get(my2, 0, s - 1) + tilt(get(my2, 0, s - 2), get(my2, 0, s - 1), get(my2, 0, s)), br = get(my2, 0, s) - tilt(get(my2, 0, s - 1), get(my2, 0, s), get(my2, 0, s + 1));
    double el = get(en2, 0, s - 1) + tilt(get(en2, 0, s - 2), get(en2, 0, s - 1), get(en2, 0, s)), er = get(en2, 0, s) - tilt(get(en2, 0, s - 1), get(en2, 0, s), get(en2, 0, s + 1));
    double pl = pressure(rl, al, bl, el), pr = pressure(rr, ar, br, er), c = max(speed(rl, bl, al, el), speed(rr, br, ar, er));
    double sign = s == 0 ? k : -k;
    dr += sign * flux(bl, br, c, rl, rr);
    da += sign * flux(al * bl / rl, ar * br / rr, c, al, ar);
    db += sign * flux(bl * bl / rl + pl, br * br / rr + pr, c, bl, br);
    de += sign * flux(bl / rl * (el + pl), br / rr * (er + pr), c, el, er);
  }
  return 1.0 / 3 * get(rho, 0, 0) + 2.0 / 3 * (get(rho2, 0, 0) + dr), 1.0 / 3 * get(mx, 0, 0) + 2.0 / 3 * (get(mx2, 0, 0) + da), 1.0 / 3 * get(my, 0, 0) + 2.0 / 3 * (get(my2, 0, 0) + db), 1.0 / 3 * get(en, 0, 0) + 2.0 / 3 * (get(en2, 0, 0) + de);
}
