# A blast of a gamma-ray burst, along its radius: mass d, momentum m and energy e of a gas almost as fast as light, from which Newton's method finds pressure, density and speed; slopes that minmod keeps, and the flux of Harten, Lax and van Leer.
# Source: Marti and Mueller, "Numerical hydrodynamics in special relativity" (2003), sections 2 and 9.2; Schneider et al., "New algorithms for ultra-relativistic numerical hydrodynamics" (1993), the flux.
NumDimensions 1
StencilSize (2)
DataType double
Fields (d, m, e, p, rho, v)
Temporary (rho, v)
ScalarVariables (double k = 0.3, double inner = 1000)
EdgeValue v x low { return -value; }
Stages (primitive, evolve)
DefaultSize (2000003)
Steps 10000
InputRange d (1, 1.3)
InputRange m (-0.5, 0.9)
InputRange e (2, 3)
InputRange p (0.6, 1)
const double gamma = 4.0 / 3;
double minmod(double a, double b) { return a * b <= 0 ? 0 : (abs(a) < abs(b) ? a : b); }
CellValue primitive (p, rho, v) {
  double dd = get(d, 0), mm = get(m, 0), ee = get(e, 0), q = get(p, 0), speed = 0, w = 1;
  for (int n = 0; n < 6; n++) {
    speed = mm / (ee + dd + q);
    w = 1 / sqrt(1 - min(speed * speed, 0.999999));
    double r = dd / w, inside = (ee + dd * (1 - w) + q * (1 - w * w)) / (dd * w);
    double c2 = gamma * (gamma - 1) * inside / (1 + gamma * inside);
    q -= ((gamma - 1) * r * inside - q) / (speed * speed * c2 - 1);
    q = max(q, 1e-8);
  }
  speed = mm / (ee + dd + q);
  return q, dd * sqrt(1 - min(speed * speed, 0.999999)), speed;
}
double density(int c, int s) { return get(rho, c) + 0.5 * s * minmod(get(rho, c) - get(rho, c - 1), get(rho, c + 1) - get(rho, c)); }
double speedat(int c, int s) { return get(v, c) + 0.5 * s * minmod(get(v, c) - get(v, c - 1), get(v, c + 1) - get(v, c)); }
double pressure(int c, int s) { return get(p, c) + 0.5 * s * minmod(get(p, c) - get(p, c - 1), get(p, c + 1) - get(p, c)); }
CellValue evolve (d, m, e) {
  double fd[2], fm[2], fe[2];
  for (int f = 0; f < 2; f++) {
    double rl = density(f - 1, 1), vl = speedat(f - 1, 1), pl = pressure(f - 1, 1);
    double rr = density(f, -1), vr = speedat(f, -1), pr = pressure(f, -1);
    double hl = rl + gamma / (gamma - 1) * pl, hr = rr + gamma / (gamma - 1) * pr;
    double cl = sqrt(gamma * pl / hl), cr = sqrt(gamma * pr / hr);
    double wl = 1 / (1 - vl * vl), wr = 1 / (1 - vr * vr);
    double dl = rl * sqrt(wl), dr = rr * sqrt(wr), ml = hl * wl * vl, mr = hr * wr * vr, el = hl * wl - pl - dl, er = hr * wr - pr - dr;
    double low = min(0, min((vl - cl) / (1 - vl * cl), (vr - cr) / (1 - vr * cr)));
    double high = max(0, max((vl + cl) / (1 + vl * cl), (vr + cr) / (1 + vr * cr)));
    double n = 1 / (high - low);
    fd[f] = n * (high * dl * vl - low * dr * vr + high * low * (dr - dl));
    fm[f] = n * (high * (ml * vl + pl) - low * (mr * vr + pr) + high * low * (mr - ml));
    fe[f] = n * (high * (ml - dl * vl) - low * (mr - dr * vr) + high * low * (er - el));
  }
  double r0 = inner + x, r1 = r0 + 1, volume = (r1 * r1 * r1 - r0 * r0 * r0) / 3;
  double a = k * r0 * r0 / volume, b = k * r1 * r1 / volume;
  return get(d, 0) + a * fd[0] - b * fd[1], get(m, 0) + a * fm[0] - b * fm[1] + (b - a) * get(p, 0), get(e, 0) + a * fe[0] - b * fe[1];
}
