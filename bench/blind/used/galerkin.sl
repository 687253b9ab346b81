# Two blasts that collide in a tube with walls at its ends: density, momentum and energy of a gas, each in a cell by a parabola (its mean and two Legendre moments), carried on by
# discontinuous Galerkin's method with the flux of Rusanov, in three stages after each of which the slopes are limited by those between means. Steps as long as is stable.
# Source: Cockburn and Shu, "TVB Runge-Kutta local projection discontinuous Galerkin finite element method for conservation laws II" (1989) and "V: multidimensional systems" (1998),
# parabolas, quadrature of Gauss and Legendre, the limiter by components; Woodward and Colella, "The numerical simulation of two-dimensional fluid flow" (1984), the blasts.
NumDimensions 1
StencilSize (1)
DataType double
Fields (r0, r1, r2, m0, m1, m2, e0, e1, e2,
        ar0, ar1, ar2, am0, am1, am2, ae0, ae1, ae2,
        br0, br1, br2, bm0, bm1, bm2, be0, be1, be2)
Temporary (ar0, ar1, ar2, am0, am1, am2, ae0, ae1, ae2,
           br0, br1, br2, bm0, bm1, bm2, be0, be1, be2)
Boundary clamp
EdgeValue r1 { return -value; }
EdgeValue m0 { return -value; }
EdgeValue m2 { return -value; }
EdgeValue e1 { return -value; }
EdgeValue ar1 { return -value; }
EdgeValue am0 { return -value; }
EdgeValue am2 { return -value; }
EdgeValue ae1 { return -value; }
EdgeValue br1 { return -value; }
EdgeValue bm0 { return -value; }
EdgeValue bm2 { return -value; }
EdgeValue be1 { return -value; }
Stages (first, limitfirst, second, limitsecond, third, limitthird)
DefaultSize (4000000)
Steps 2000
InputRange r0 (0.8, 1.2)
InputRange m0 (-0.3, 0.3)
InputRange e0 (2, 3)
InputRange r1 (-0.05, 0.05)
InputRange r2 (-0.05, 0.05)
InputRange m1 (-0.05, 0.05)
InputRange m2 (-0.05, 0.05)
InputRange e1 (-0.05, 0.05)
InputRange e2 (-0.05, 0.05)
const double heat = 1.4;
double pressure(double d, double q, double en) { return (heat - 1) * (en - 0.5 * q * q / d); }
double fastest(double d, double q, double en) { return fabs(q) / d + sqrt(heat * fmax(pressure(d, q, en), 0) / d); }
StepScalar max speed { return fastest(get(r0, 0), get(m0, 0), get(e0, 0)); }
StepScalar ratio { return 0.12 / speed; }    # of the time step to the cells' width
double minmod(double a, double b, double c) {
  if (a > 0 && b > 0 && c > 0) return fmin(a, fmin(b, c));
  if (a < 0 && b < 0 && c < 0) return fmax(a, fmax(b, c));
  return 0;
}
const double close = 0.00000001;    # limited by less is not limited
const double node[3] = {-0.7745966692414834, 0, 0.7745966692414834};
const double weigh[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
CellValue first (ar0, ar1, ar2, am0, am1, am2, ae0, ae1, ae2) {
  double f[2][3];    # through the low and the high face
  for (int k = 0; k < 2; k++) {
    double rl = get(r0, k - 1) + get(r1, k - 1) + get(r2, k - 1), rh = get(r0, k) - get(r1, k) + get(r2, k);
    double ml = get(m0, k - 1) + get(m1, k - 1) + get(m2, k - 1), mh = get(m0, k) - get(m1, k) + get(m2, k);
    double el = get(e0, k - 1) + get(e1, k - 1) + get(e2, k - 1), eh = get(e0, k) - get(e1, k) + get(e2, k);
    double pl = pressure(rl, ml, el), ph = pressure(rh, mh, eh);
    double wave = fmax(fastest(rl, ml, el), fastest(rh, mh, eh));
    f[k][0] = 0.5 * (ml + mh - wave * (rh - rl));
    f[k][1] = 0.5 * (ml * ml / rl + pl + mh * mh / rh + ph - wave * (mh - ml));
    f[k][2] = 0.5 * ((el + pl) * ml / rl + (eh + ph) * mh / rh - wave * (eh - el));
  }
  double inner[3][2];    # integrals of fluxes within, by the slopes of both moments
  for (int n = 0; n < 3; n++) {
    double s = node[n], t = 1.5 * node[n] * node[n] - 0.5;
    double rq = get(r0, 0) + s * get(r1, 0) + t * get(r2, 0);
    double mq = get(m0, 0) + s * get(m1, 0) + t * get(m2, 0);
    double eq = get(e0, 0) + s * get(e1, 0) + t * get(e2, 0);
    double pq = pressure(rq, mq, eq), uq = mq / rq;
    inner[0][0] += weigh[n] * mq;
    inner[0][1] += 3 * weigh[n] * s * mq;
    inner[1][0] += weigh[n] * (mq * uq + pq);
    inner[1][1] += 3 * weigh[n] * s * (mq * uq + pq);
    inner[2][0] += weigh[n] * (eq + pq) * uq;
    inner[2][1] += 3 * weigh[n] * s * (eq + pq) * uq;
  }
  return get(r0, 0) + ratio * (f[0][0] - f[1][0]),
         get(r1, 0) + 3 * ratio * (inner[0][0] - f[1][0] - f[0][0]),
         get(r2, 0) + 5 * ratio * (inner[0][1] - f[1][0] + f[0][0]),
         get(m0, 0) + ratio * (f[0][1] - f[1][1]),
         get(m1, 0) + 3 * ratio * (inner[1][0] - f[1][1] - f[0][1]),
         get(m2, 0) + 5 * ratio * (inner[1][1] - f[1][1] + f[0][1]),
         get(e0, 0) + ratio * (f[0][2] - f[1][2]),
         get(e1, 0) + 3 * ratio * (inner[2][0] - f[1][2] - f[0][2]),
         get(e2, 0) + 5 * ratio * (inner[2][1] - f[1][2] + f[0][2]);
}
CellValue limitfirst (ar1, ar2, am1, am2, ae1, ae2) {
  double rup = get(ar0, 1) - get(ar0, 0), rdown = get(ar0, 0) - get(ar0, -1);
  double rs = minmod(get(ar1, 0) + get(ar2, 0), rup, rdown), rt = minmod(get(ar1, 0) - get(ar2, 0), rup, rdown);
  int rkept = fabs(rs - (get(ar1, 0) + get(ar2, 0))) < close && fabs(rt - (get(ar1, 0) - get(ar2, 0))) < close;
  double mup = get(am0, 1) - get(am0, 0), mdown = get(am0, 0) - get(am0, -1);
  double ms = minmod(get(am1, 0) + get(am2, 0), mup, mdown), mt = minmod(get(am1, 0) - get(am2, 0), mup, mdown);
  int mkept = fabs(ms - (get(am1, 0) + get(am2, 0))) < close && fabs(mt - (get(am1, 0) - get(am2, 0))) < close;
  double eup = get(ae0, 1) - get(ae0, 0), edown = get(ae0, 0) - get(ae0, -1);
  double es = minmod(get(ae1, 0) + get(ae2, 0), eup, edown), et = minmod(get(ae1, 0) - get(ae2, 0), eup, edown);
  int ekept = fabs(es - (get(ae1, 0) + get(ae2, 0))) < close && fabs(et - (get(ae1, 0) - get(ae2, 0))) < close;
  return rkept ? get(ar1, 0) : minmod(get(ar1, 0), rup, rdown), rkept ? get(ar2, 0) : 0,
         mkept ? get(am1, 0) : minmod(get(am1, 0), mup, mdown), mkept ? get(am2, 0) : 0,
         ekept ? get(ae1, 0) : minmod(get(ae1, 0), eup, edown), ekept ? get(ae2, 0) : 0;
}
CellValue second (br0, br1, br2, bm0, bm1, bm2, be0, be1, be2) {
  double f[2][3];    # through the low and the high face
  for (int k = 0; k < 2; k++) {
    double rl = get(ar0, k - 1) + get(ar1, k - 1) + get(ar2, k - 1), rh = get(ar0, k) - get(ar1, k) + get(ar2, k);
    double ml = get(am0, k - 1) + get(am1, k - 1) + get(am2, k - 1), mh = get(am0, k) - get(am1, k) + get(am2, k);
    double el = get(ae0, k - 1) + get(ae1, k - 1) + get(ae2, k - 1), eh = get(ae0, k) - get(ae1, k) + get(ae2, k);
    double pl = pressure(rl, ml, el), ph = pressure(rh, mh, eh);
    double wave = fmax(fastest(rl, ml, el), fastest(rh, mh, eh));
    f[k][0] = 0.5 * (ml + mh - wave * (rh - rl));
    f[k][1] = 0.5 * (ml * ml / rl + pl + mh * mh / rh + ph - wave * (mh - ml));
    f[k][2] = 0.5 * ((el + pl) * ml / rl + (eh + ph) * mh / rh - wave * (eh - el));
  }
  double inner[3][2];    # integrals of fluxes within, by the slopes of both moments
  for (int n = 0; n < 3; n++) {
    double s = node[n], t = 1.5 * node[n] * node[n] - 0.5;
    double rq = get(ar0, 0) + s * get(ar1, 0) + t * get(ar2, 0);
    double mq = get(am0, 0) + s * get(am1, 0) + t * get(am2, 0);
    double eq = get(ae0, 0) + s * get(ae1, 0) + t * get(ae2, 0);
    double pq = pressure(rq, mq, eq), uq = mq / rq;
    inner[0][0] += weigh[n] * mq;
    inner[0][1] += 3 * weigh[n] * s * mq;
    inner[1][0] += weigh[n] * (mq * uq + pq);
    inner[1][1] += 3 * weigh[n] * s * (mq * uq + pq);
    inner[2][0] += weigh[n] * (eq + pq) * uq;
    inner[2][1] += 3 * weigh[n] * s * (eq + pq) * uq;
  }
  return 0.75 * get(r0, 0) + 0.25 * (get(ar0, 0) + ratio * (f[0][0] - f[1][0])),
         0.75 * get(r1, 0) + 0.25 * (get(ar1, 0) + 3 * ratio * (inner[0][0] - f[1][0] - f[0][0])),
         0.75 * get(r2, 0) + 0.25 * (get(ar2, 0) + 5 * ratio * (inner[0][1] - f[1][0] + f[0][0])),
         0.75 * get(m0, 0) + 0.25 * (get(am0, 0) + ratio * (f[0][1] - f[1][1])),
         0.75 * get(m1, 0) + 0.25 * (get(am1, 0) + 3 * ratio * (inner[1][0] - f[1][1] - f[0][1])),
         0.75 * get(m2, 0) + 0.25 * (get(am2, 0) + 5 * ratio * (inner[1][1] - f[1][1] + f[0][1])),
         0.75 * get(e0, 0) + 0.25 * (get(ae0, 0) + ratio * (f[0][2] - f[1][2])),
         0.75 * get(e1, 0) + 0.25 * (get(ae1, 0) + 3 * ratio * (inner[2][0] - f[1][2] - f[0][2])),
         0.75 * get(e2, 0) + 0.25 * (get(ae2, 0) + 5 * ratio * (inner[2][1] - f[1][2] + f[0][2]));
}
CellValue limitsecond (br1, br2, bm1, bm2, be1, be2) {
  double rup = get(br0, 1) - get(br0, 0), rdown = get(br0, 0) - get(br0, -1);
  double rs = minmod(get(br1, 0) + get(br2, 0), rup, rdown), rt = minmod(get(br1, 0) - get(br2, 0), rup, rdown);
  int rkept = fabs(rs - (get(br1, 0) + get(br2, 0))) < close && fabs(rt - (get(br1, 0) - get(br2, 0))) < close;
  double mup = get(bm0, 1) - get(bm0, 0), mdown = get(bm0, 0) - get(bm0, -1);
  double ms = minmod(get(bm1, 0) + get(bm2, 0), mup, mdown), mt = minmod(get(bm1, 0) - get(bm2, 0), mup, mdown);
  int mkept = fabs(ms - (get(bm1, 0) + get(bm2, 0))) < close && fabs(mt - (get(bm1, 0) - get(bm2, 0))) < close;
  double eup = get(be0, 1) - get(be0, 0), edown = get(be0, 0) - get(be0, -1);
  double es = minmod(get(be1, 0) + get(be2, 0), eup, edown), et = minmod(get(be1, 0) - get(be2, 0), eup, edown);
  int ekept = fabs(es - (get(be1, 0) + get(be2, 0))) < close && fabs(et - (get(be1, 0) - get(be2, 0))) < close;
  return rkept ? get(br1, 0) : minmod(get(br1, 0), rup, rdown), rkept ? get(br2, 0) : 0,
         mkept ? get(bm1, 0) : minmod(get(bm1, 0), mup, mdown), mkept ? get(bm2, 0) : 0,
         ekept ? get(be1, 0) : minmod(get(be1, 0), eup, edown), ekept ? get(be2, 0) : 0;
}
CellValue third (r0, r1, r2, m0, m1, m2, e0, e1, e2) {
  double f[2][3];    # through the low and the high face
  for (int k = 0; k < 2; k++) {
    double rl = get(br0, k - 1) + get(br1, k - 1) + get(br2, k - 1), rh = get(br0, k) - get(br1, k) + get(br2, k);
    double ml = get(bm0, k - 1) + get(bm1, k - 1) + get(bm2, k - 1), mh = get(bm0, k) - get(bm1, k) + get(bm2, k);
    double el = get(be0, k - 1) + get(be1, k - 1) + get(be2, k - 1), eh = get(be0, k) - get(be1, k) + get(be2, k);
    double pl = pressure(rl, ml, el), ph = pressure(rh, mh, eh);
    double wave = fmax(fastest(rl, ml, el), fastest(rh, mh, eh));
    f[k][0] = 0.5 * (ml + mh - wave * (rh - rl));
    f[k][1] = 0.5 * (ml * ml / rl + pl + mh * mh / rh + ph - wave * (mh - ml));
    f[k][2] = 0.5 * ((el + pl) * ml / rl + (eh + ph) * mh / rh - wave * (eh - el));
  }
  double inner[3][2];    # integrals of fluxes within, by the slopes of both moments
  for (int n = 0; n < 3; n++) {
    double s = node[n], t = 1.5 * node[n] * node[n] - 0.5;
    double rq = get(br0, 0) + s * get(br1, 0) + t * get(br2, 0);
    double mq = get(bm0, 0) + s * get(bm1, 0) + t * get(bm2, 0);
    double eq = get(be0, 0) + s * get(be1, 0) + t * get(be2, 0);
    double pq = pressure(rq, mq, eq), uq = mq / rq;
    inner[0][0] += weigh[n] * mq;
    inner[0][1] += 3 * weigh[n] * s * mq;
    inner[1][0] += weigh[n] * (mq * uq + pq);
    inner[1][1] += 3 * weigh[n] * s * (mq * uq + pq);
    inner[2][0] += weigh[n] * (eq + pq) * uq;
    inner[2][1] += 3 * weigh[n] * s * (eq + pq) * uq;
  }
  return (get(r0, 0) + 2 * (get(br0, 0) + ratio * (f[0][0] - f[1][0]))) / 3,
         (get(r1, 0) + 2 * (get(br1, 0) + 3 * ratio * (inner[0][0] - f[1][0] - f[0][0]))) / 3,
         (get(r2, 0) + 2 * (get(br2, 0) + 5 * ratio * (inner[0][1] - f[1][0] + f[0][0]))) / 3,
         (get(m0, 0) + 2 * (get(bm0, 0) + ratio * (f[0][1] - f[1][1]))) / 3,
         (get(m1, 0) + 2 * (get(bm1, 0) + 3 * ratio * (inner[1][0] - f[1][1] - f[0][1]))) / 3,
         (get(m2, 0) + 2 * (get(bm2, 0) + 5 * ratio * (inner[1][1] - f[1][1] + f[0][1]))) / 3,
         (get(e0, 0) + 2 * (get(be0, 0) + ratio * (f[0][2] - f[1][2]))) / 3,
         (get(e1, 0) + 2 * (get(be1, 0) + 3 * ratio * (inner[2][0] - f[1][2] - f[0][2]))) / 3,
         (get(e2, 0) + 2 * (get(be2, 0) + 5 * ratio * (inner[2][1] - f[1][2] + f[0][2]))) / 3;
}
CellValue limitthird (r1, r2, m1, m2, e1, e2) {
  double rup = get(r0, 1) - get(r0, 0), rdown = get(r0, 0) - get(r0, -1);
  double rs = minmod(get(r1, 0) + get(r2, 0), rup, rdown), rt = minmod(get(r1, 0) - get(r2, 0), rup, rdown);
  int rkept = fabs(rs - (get(r1, 0) + get(r2, 0))) < close && fabs(rt - (get(r1, 0) - get(r2, 0))) < close;
  double mup = get(m0, 1) - get(m0, 0), mdown = get(m0, 0) - get(m0, -1);
  double ms = minmod(get(m1, 0) + get(m2, 0), mup, mdown), mt = minmod(get(m1, 0) - get(m2, 0), mup, mdown);
  int mkept = fabs(ms - (get(m1, 0) + get(m2, 0))) < close && fabs(mt - (get(m1, 0) - get(m2, 0))) < close;
  double eup = get(e0, 1) - get(e0, 0), edown = get(e0, 0) - get(e0, -1);
  double es = minmod(get(e1, 0) + get(e2, 0), eup, edown), et = minmod(get(e1, 0) - get(e2, 0), eup, edown);
  int ekept = fabs(es - (get(e1, 0) + get(e2, 0))) < close && fabs(et - (get(e1, 0) - get(e2, 0))) < close;
  return rkept ? get(r1, 0) : minmod(get(r1, 0), rup, rdown), rkept ? get(r2, 0) : 0,
         mkept ? get(m1, 0) : minmod(get(m1, 0), mup, mdown), mkept ? get(m2, 0) : 0,
         ekept ? get(e1, 0) : minmod(get(e1, 0), eup, edown), ekept ? get(e2, 0) : 0;
}
