# Large eddies: how much smaller ones damp them is read off the velocities themselves, by filtering them again over boxes of 3 x 3 x 3 cells; then they are carried on and diffused by that.
# The flow repeats; pressure is left to another program.
# Source: Germano, Piomelli, Moin and Cabot, "A dynamic subgrid-scale eddy viscosity model" (1991), section 2; Lilly, "A proposed modification of the Germano subgrid-scale closure method" (1992), equation 11.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u, v, w, nu, sxx, syy, szz, sxy, sxz, syz)
Temporary (nu, sxx, syy, szz, sxy, sxz, syz)
Boundary wrap
Stages (strain, viscosity, flow)
DefaultSize (256, 256, 256)
Steps 200
InputRange u (-1, 1)
InputRange v (-1, 1)
InputRange w (-1, 1)
const float h = 0.0245;
const float dt = 0.002;
float magnitude(int i, int j, int k) {
  return sqrt(2 * (get(sxx, i, j, k) * get(sxx, i, j, k) + get(syy, i, j, k) * get(syy, i, j, k) + get(szz, i, j, k) * get(szz, i, j, k)
    + 2 * (get(sxy, i, j, k) * get(sxy, i, j, k) + get(sxz, i, j, k) * get(sxz, i, j, k) + get(syz, i, j, k) * get(syz, i, j, k))));
}
CellValue strain (sxx, syy, szz, sxy, sxz, syz) {
  const float r = 0.5 / h;
  return r * (get(u, 1, 0, 0) - get(u, -1, 0, 0)), r * (get(v, 0, 1, 0) - get(v, 0, -1, 0)), r * (get(w, 0, 0, 1) - get(w, 0, 0, -1)),
    0.5 * r * (get(u, 0, 1, 0) - get(u, 0, -1, 0) + get(v, 1, 0, 0) - get(v, -1, 0, 0)),
    0.5 * r * (get(u, 0, 0, 1) - get(u, 0, 0, -1) + get(w, 1, 0, 0) - get(w, -1, 0, 0)),
    0.5 * r * (get(v, 0, 0, 1) - get(v, 0, 0, -1) + get(w, 0, 1, 0) - get(w, 0, -1, 0));
}
CellValue viscosity (nu) {
  float fu = 0, fv = 0, fw = 0, uu = 0, vv = 0, ww = 0, uv = 0, uw = 0, vw = 0;
  float txx = 0, tyy = 0, tzz = 0, txy = 0, txz = 0, tyz = 0, mxx = 0, myy = 0, mzz = 0, mxy = 0, mxz = 0, myz = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        const float g = 0.015625 * (2 - abs(i)) * (2 - abs(j)) * (2 - abs(k));
        fu += g * get(u, i, j, k);
        fv += g * get(v, i, j, k);
        fw += g * get(w, i, j, k);
        uu += g * (get(u, i, j, k) * get(u, i, j, k));
        vv += g * (get(v, i, j, k) * get(v, i, j, k));
        ww += g * (get(w, i, j, k) * get(w, i, j, k));
        uv += g * (get(u, i, j, k) * get(v, i, j, k));
        uw += g * (get(u, i, j, k) * get(w, i, j, k));
        vw += g * (get(v, i, j, k) * get(w, i, j, k));
        txx += g * get(sxx, i, j, k);
        tyy += g * get(syy, i, j, k);
        tzz += g * get(szz, i, j, k);
        txy += g * get(sxy, i, j, k);
        txz += g * get(sxz, i, j, k);
        tyz += g * get(syz, i, j, k);
        mxx += g * (magnitude(i, j, k) * get(sxx, i, j, k));
        myy += g * (magnitude(i, j, k) * get(syy, i, j, k));
        mzz += g * (magnitude(i, j, k) * get(szz, i, j, k));
        mxy += g * (magnitude(i, j, k) * get(sxy, i, j, k));
        mxz += g * (magnitude(i, j, k) * get(sxz, i, j, k));
        myz += g * (magnitude(i, j, k) * get(syz, i, j, k));
      }
  float t = 4 * sqrt(2 * (txx * txx + tyy * tyy + tzz * tzz + 2 * (txy * txy + txz * txz + tyz * tyz)));
  float axx = t * txx - mxx, ayy = t * tyy - myy, azz = t * tzz - mzz, axy = t * txy - mxy, axz = t * txz - mxz, ayz = t * tyz - myz;
  float lm = (uu - fu * fu) * axx + (vv - fv * fv) * ayy + (ww - fw * fw) * azz + 2 * ((uv - fu * fv) * axy + (uw - fu * fw) * axz + (vw - fv * fw) * ayz);
  float mm = axx * axx + ayy * ayy + azz * azz + 2 * (axy * axy + axz * axz + ayz * ayz);
  float c = -0.5 * lm / (mm * h * h + 1e-6);
  return min(max(c, 0), 0.05) * h * h * magnitude(0, 0, 0);
}
float carried(float here, float xl, float xh, float yl, float yh, float zl, float zh) {
  return here - dt * 0.5 / h * (get(u, 0, 0, 0) * (xh - xl) + get(v, 0, 0, 0) * (yh - yl) + get(w, 0, 0, 0) * (zh - zl));
}
CellValue flow (u, v, w) {
  float d = dt / h / h, n = get(nu, 0, 0, 0);
  float e = 0.5 * d * (n + get(nu, 1, 0, 0)), f = 0.5 * d * (n + get(nu, -1, 0, 0)), g = 0.5 * d * (n + get(nu, 0, 1, 0)), o = 0.5 * d * (n + get(nu, 0, -1, 0)), p = 0.5 * d * (n + get(nu, 0, 0, 1)), q = 0.5 * d * (n + get(nu, 0, 0, -1));
  float a = get(u, 0, 0, 0), b = get(v, 0, 0, 0), c = get(w, 0, 0, 0);
  return carried(a, get(u, -1, 0, 0), get(u, 1, 0, 0), get(u, 0, -1, 0), get(u, 0, 1, 0), get(u, 0, 0, -1), get(u, 0, 0, 1))
      + e * (get(u, 1, 0, 0) - a) + f * (get(u, -1, 0, 0) - a) + g * (get(u, 0, 1, 0) - a) + o * (get(u, 0, -1, 0) - a) + p * (get(u, 0, 0, 1) - a) + q * (get(u, 0, 0, -1) - a),
    carried(b, get(v, -1, 0, 0), get(v, 1, 0, 0), get(v, 0, -1, 0), get(v, 0, 1, 0), get(v, 0, 0, -1), get(v, 0, 0, 1))
      + e * (get(v, 1, 0, 0) - b) + f * (get(v, -1, 0, 0) - b) + g * (get(v, 0, 1, 0) - b) + o * (get(v, 0, -1, 0) - b) + p * (get(v, 0, 0, 1) - b) + q * (get(v, 0, 0, -1) - b),
    carried(c, get(w, -1, 0, 0), get(w, 1, 0, 0), get(w, 0, -1, 0), get(w, 0, 1, 0), get(w, 0, 0, -1), get(w, 0, 0, 1))
      + e * (get(w, 1, 0, 0) - c) + f * (get(w, -1, 0, 0) - c) + g * (get(w, 0, 1, 0) - c) + o * (get(w, 0, -1, 0) - c) + p * (get(w, 0, 0, 1) - c) + q * (get(w, 0, 0, -1) - c);
}
