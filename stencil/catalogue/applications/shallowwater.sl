# Waves of shallow water, second order in space: slopes limited by minmod, then
# Rusanov's flux through the upper faces of a cell, then the balance of the cell.
# e is the height above a depth of 1, p and q are the discharges along x and y;
# gravity is 1, and 0.1 the time step over the mesh width.
# Source: van Leer, "Towards the ultimate conservative difference scheme V" (1979);
# LeVeque, "Finite Volume Methods for Hyperbolic Problems" (2002), chapters 6
# and 13; Rusanov (1961).
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (e, p, q, ex, px, qx, ey, py, qy, fe, fp, fq, ge, gp, gq)
Temporary (ex, px, qx, ey, py, qy, fe, fp, fq, ge, gp, gq)
Boundary wrap
Stages (slopes, fluxes, balance)
DefaultSize (8192, 8192)
Steps 1000
InputRange (-0.25, 0.25)
float minmod(float a, float b) { return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b; }
CellValue slopes (ex, px, qx, ey, py, qy) {
  float e0 = get(e, 0, 0), p0 = get(p, 0, 0), q0 = get(q, 0, 0);
  float el = e0 - get(e, -1, 0), er = get(e, 1, 0) - e0, ed = e0 - get(e, 0, -1), eu = get(e, 0, 1) - e0;
  float pl = p0 - get(p, -1, 0), pr = get(p, 1, 0) - p0, pd = p0 - get(p, 0, -1), pu = get(p, 0, 1) - p0;
  float ql = q0 - get(q, -1, 0), qr = get(q, 1, 0) - q0, qd = q0 - get(q, 0, -1), qu = get(q, 0, 1) - q0;
  return minmod(el, er), minmod(pl, pr), minmod(ql, qr), minmod(ed, eu), minmod(pd, pu), minmod(qd, qu);
}
CellValue fluxes (fe, fp, fq, ge, gp, gq) {
  float hl = 1 + get(e, 0, 0) + 0.5 * get(ex, 0, 0), hr = 1 + get(e, 1, 0) - 0.5 * get(ex, 1, 0);
  float pl = get(p, 0, 0) + 0.5 * get(px, 0, 0), pr = get(p, 1, 0) - 0.5 * get(px, 1, 0);
  float ql = get(q, 0, 0) + 0.5 * get(qx, 0, 0), qr = get(q, 1, 0) - 0.5 * get(qx, 1, 0);
  float ul = pl / hl, ur = pr / hr;
  float a = 0.5 * fmax(fabs(ul) + sqrt(hl), fabs(ur) + sqrt(hr));
  float hd = 1 + get(e, 0, 0) + 0.5 * get(ey, 0, 0), hu = 1 + get(e, 0, 1) - 0.5 * get(ey, 0, 1);
  float pd = get(p, 0, 0) + 0.5 * get(py, 0, 0), pu = get(p, 0, 1) - 0.5 * get(py, 0, 1);
  float qd = get(q, 0, 0) + 0.5 * get(qy, 0, 0), qu = get(q, 0, 1) - 0.5 * get(qy, 0, 1);
  float vd = qd / hd, vu = qu / hu;
  float b = 0.5 * fmax(fabs(vd) + sqrt(hd), fabs(vu) + sqrt(hu));
  return 0.5 * (pl + pr) - a * (hr - hl),
         0.5 * (pl * ul + pr * ur) + 0.25 * (hl * hl + hr * hr) - a * (pr - pl),
         0.5 * (ql * ul + qr * ur) - a * (qr - ql),
         0.5 * (qd + qu) - b * (hu - hd),
         0.5 * (pd * vd + pu * vu) - b * (pu - pd),
         0.5 * (qd * vd + qu * vu) + 0.25 * (hd * hd + hu * hu) - b * (qu - qd);
}
CellValue balance (e, p, q) {
  return get(e, 0, 0) - 0.1 * (get(fe, 0, 0) - get(fe, -1, 0) + get(ge, 0, 0) - get(ge, 0, -1)),
         get(p, 0, 0) - 0.1 * (get(fp, 0, 0) - get(fp, -1, 0) + get(gp, 0, 0) - get(gp, 0, -1)),
         get(q, 0, 0) - 0.1 * (get(fq, 0, 0) - get(fq, -1, 0) + get(gq, 0, 0) - get(gq, 0, -1));
}
