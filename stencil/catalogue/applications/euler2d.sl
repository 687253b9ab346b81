# Gas in the plane: Euler's equations, second order in space: slopes limited by minmod,
# then the balance of each cell from Rusanov's flux through its four faces, computed anew
# on both sides of a face. r is the density above 1, p and q the momentum, e the energy
# above 2.5; the ratio of specific heats is 1.4, 0.1 the time step over the mesh width.
# Source: van Leer, "Towards the ultimate conservative difference scheme V" (1979);
# LeVeque, "Finite Volume Methods for Hyperbolic Problems" (2002), chapters 6
# and 14; Rusanov (1961).
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (r, p, q, e, rx, px, qx, ex, ry, py, qy, ey)
Temporary (rx, px, qx, ex, ry, py, qy, ey)
Boundary wrap
Stages (slopes, balance)
DefaultSize (8192, 8192)
Steps 1000
InputRange (-0.2, 0.2)
CellValue slopes (rx, px, qx, ex, ry, py, qy, ey) {
  float r0 = get(r, 0, 0);
  float rl = r0 - get(r, -1, 0), rh = get(r, 1, 0) - r0, rd = r0 - get(r, 0, -1), ru = get(r, 0, 1) - r0;
  float p0 = get(p, 0, 0);
  float pl = p0 - get(p, -1, 0), ph = get(p, 1, 0) - p0, pd = p0 - get(p, 0, -1), pu = get(p, 0, 1) - p0;
  float q0 = get(q, 0, 0);
  float ql = q0 - get(q, -1, 0), qh = get(q, 1, 0) - q0, qd = q0 - get(q, 0, -1), qu = get(q, 0, 1) - q0;
  float e0 = get(e, 0, 0);
  float el = e0 - get(e, -1, 0), eh = get(e, 1, 0) - e0, ed = e0 - get(e, 0, -1), eu = get(e, 0, 1) - e0;
  return rl * rh <= 0 ? 0 : fabs(rl) < fabs(rh) ? rl : rh,
         pl * ph <= 0 ? 0 : fabs(pl) < fabs(ph) ? pl : ph,
         ql * qh <= 0 ? 0 : fabs(ql) < fabs(qh) ? ql : qh,
         el * eh <= 0 ? 0 : fabs(el) < fabs(eh) ? el : eh,
         rd * ru <= 0 ? 0 : fabs(rd) < fabs(ru) ? rd : ru,
         pd * pu <= 0 ? 0 : fabs(pd) < fabs(pu) ? pd : pu,
         qd * qu <= 0 ? 0 : fabs(qd) < fabs(qu) ? qd : qu,
         ed * eu <= 0 ? 0 : fabs(ed) < fabs(eu) ? ed : eu;
}
CellValue balance (r, p, q, e) {
  float dr = 0, dp = 0, dq = 0, de = 0;
  for (int side = -1; side <= 0; side++) {
    const float sign = side == 0 ? 0.05 : -0.05;
    float rx1 = 1 + get(r, side, 0) + 0.5 * get(rx, side, 0), rx2 = 1 + get(r, side + 1, 0) - 0.5 * get(rx, side + 1, 0);
    float px1 = get(p, side, 0) + 0.5 * get(px, side, 0), px2 = get(p, side + 1, 0) - 0.5 * get(px, side + 1, 0);
    float qx1 = get(q, side, 0) + 0.5 * get(qx, side, 0), qx2 = get(q, side + 1, 0) - 0.5 * get(qx, side + 1, 0);
    float ex1 = 2.5 + get(e, side, 0) + 0.5 * get(ex, side, 0), ex2 = 2.5 + get(e, side + 1, 0) - 0.5 * get(ex, side + 1, 0);
    float vx1 = px1 / rx1, wx1 = 0.4 * (ex1 - 0.5 * (px1 * px1 + qx1 * qx1) / rx1);
    float vx2 = px2 / rx2, wx2 = 0.4 * (ex2 - 0.5 * (px2 * px2 + qx2 * qx2) / rx2);
    float sx = fmax(fabs(vx1) + sqrt(1.4 * wx1 / rx1), fabs(vx2) + sqrt(1.4 * wx2 / rx2));
    dr += sign * (px1 + px2 - sx * (rx2 - rx1));
    dp += sign * (px1 * vx1 + wx1 + px2 * vx2 + wx2 - sx * (px2 - px1));
    dq += sign * (qx1 * vx1 + qx2 * vx2 - sx * (qx2 - qx1));
    de += sign * ((ex1 + wx1) * vx1 + (ex2 + wx2) * vx2 - sx * (ex2 - ex1));
    float ry1 = 1 + get(r, 0, side) + 0.5 * get(ry, 0, side), ry2 = 1 + get(r, 0, side + 1) - 0.5 * get(ry, 0, side + 1);
    float py1 = get(p, 0, side) + 0.5 * get(py, 0, side), py2 = get(p, 0, side + 1) - 0.5 * get(py, 0, side + 1);
    float qy1 = get(q, 0, side) + 0.5 * get(qy, 0, side), qy2 = get(q, 0, side + 1) - 0.5 * get(qy, 0, side + 1);
    float ey1 = 2.5 + get(e, 0, side) + 0.5 * get(ey, 0, side), ey2 = 2.5 + get(e, 0, side + 1) - 0.5 * get(ey, 0, side + 1);
    float vy1 = qy1 / ry1, wy1 = 0.4 * (ey1 - 0.5 * (py1 * py1 + qy1 * qy1) / ry1);
    float vy2 = qy2 / ry2, wy2 = 0.4 * (ey2 - 0.5 * (py2 * py2 + qy2 * qy2) / ry2);
    float sy = fmax(fabs(vy1) + sqrt(1.4 * wy1 / ry1), fabs(vy2) + sqrt(1.4 * wy2 / ry2));
    dr += sign * (qy1 + qy2 - sy * (ry2 - ry1));
    dp += sign * (py1 * vy1 + py2 * vy2 - sy * (py2 - py1));
    dq += sign * (qy1 * vy1 + wy1 + qy2 * vy2 + wy2 - sy * (qy2 - qy1));
    de += sign * ((ey1 + wy1) * vy1 + (ey2 + wy2) * vy2 - sy * (ey2 - ey1));
  }
  return get(r, 0, 0) - dr, get(p, 0, 0) - dp, get(q, 0, 0) - dq, get(e, 0, 0) - de;
}
