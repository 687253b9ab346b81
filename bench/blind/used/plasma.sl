# A plasma in the plane: ideal magnetohydrodynamics with a ninth field that carries the magnetic field's divergence away; Lax and Friedrichs's flux.
# Source: Dedner and others, "Hyperbolic divergence cleaning for the MHD equations" (2002), equation 24.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (r, mx, my, mz, bx, by, bz, e, psi)
Boundary (wrap, clamp)
DefaultSize (3072, 2049)
InputRange (-0.1, 0.1)
InputRange r (1, 1.3)
InputRange e (2, 2.4)
const float l = 0.1;         # half the time step over the width
const float a = 2;           # no wave is faster
float step(float c, float w, float o, float s, float n, float fw, float fo, float gs, float gn) {
  return c + l * a * (w + o + s + n - 4 * c) - l * (fo - fw + gn - gs);
}
float magnetic(int i, int j) { return get(bx, i, j) * get(bx, i, j) + get(by, i, j) * get(by, i, j) + get(bz, i, j) * get(bz, i, j); }
float total(int i, int j, float v) {
  float k = get(mx, i, j) * get(mx, i, j) + get(my, i, j) * get(my, i, j) + get(mz, i, j) * get(mz, i, j);
  float m = magnetic(i, j);
  return (get(e, i, j) - 0.5 * (k * v + m)) * 2 / 3 + 0.5 * m;
}
float along(int i, int j, float v) { return v * (get(mx, i, j) * get(bx, i, j) + get(my, i, j) * get(by, i, j) + get(mz, i, j) * get(bz, i, j)); }
CellValue {
  float vw = 1 / get(r, -1, 0), vo = 1 / get(r, 1, 0), vs = 1 / get(r, 0, -1), vn = 1 / get(r, 0, 1);
  float pw = total(-1, 0, vw), po = total(1, 0, vo), ps = total(0, -1, vs), pn = total(0, 1, vn);
  float uw = vw * get(mx, -1, 0), uo = vo * get(mx, 1, 0), us = vs * get(my, 0, -1), un = vn * get(my, 0, 1);
  float xw = get(bx, -1, 0), xo = get(bx, 1, 0), ys = get(by, 0, -1), yn = get(by, 0, 1);
  return step(get(r, 0, 0), get(r, -1, 0), get(r, 1, 0), get(r, 0, -1), get(r, 0, 1), get(mx, -1, 0), get(mx, 1, 0), get(my, 0, -1), get(my, 0, 1)),
         step(get(mx, 0, 0), get(mx, -1, 0), get(mx, 1, 0), get(mx, 0, -1), get(mx, 0, 1), get(mx, -1, 0) * uw + pw - xw * xw, get(mx, 1, 0) * uo + po - xo * xo,
              get(mx, 0, -1) * us - ys * get(bx, 0, -1), get(mx, 0, 1) * un - yn * get(bx, 0, 1)),
         step(get(my, 0, 0), get(my, -1, 0), get(my, 1, 0), get(my, 0, -1), get(my, 0, 1), get(my, -1, 0) * uw - xw * get(by, -1, 0), get(my, 1, 0) * uo - xo * get(by, 1, 0),
              get(my, 0, -1) * us + ps - ys * ys, get(my, 0, 1) * un + pn - yn * yn),
         step(get(mz, 0, 0), get(mz, -1, 0), get(mz, 1, 0), get(mz, 0, -1), get(mz, 0, 1), get(mz, -1, 0) * uw - xw * get(bz, -1, 0), get(mz, 1, 0) * uo - xo * get(bz, 1, 0),
              get(mz, 0, -1) * us - ys * get(bz, 0, -1), get(mz, 0, 1) * un - yn * get(bz, 0, 1)),
         step(get(bx, 0, 0), xw, xo, get(bx, 0, -1), get(bx, 0, 1), get(psi, -1, 0), get(psi, 1, 0),
              get(bx, 0, -1) * us - ys * vs * get(mx, 0, -1), get(bx, 0, 1) * un - yn * vn * get(mx, 0, 1)),
         step(get(by, 0, 0), get(by, -1, 0), get(by, 1, 0), ys, yn, get(by, -1, 0) * uw - xw * vw * get(my, -1, 0), get(by, 1, 0) * uo - xo * vo * get(my, 1, 0),
              get(psi, 0, -1), get(psi, 0, 1)),
         step(get(bz, 0, 0), get(bz, -1, 0), get(bz, 1, 0), get(bz, 0, -1), get(bz, 0, 1), get(bz, -1, 0) * uw - xw * vw * get(mz, -1, 0), get(bz, 1, 0) * uo - xo * vo * get(mz, 1, 0),
              get(bz, 0, -1) * us - ys * vs * get(mz, 0, -1), get(bz, 0, 1) * un - yn * vn * get(mz, 0, 1)),
         step(get(e, 0, 0), get(e, -1, 0), get(e, 1, 0), get(e, 0, -1), get(e, 0, 1), (get(e, -1, 0) + pw) * uw - xw * along(-1, 0, vw), (get(e, 1, 0) + po) * uo - xo * along(1, 0, vo),
              (get(e, 0, -1) + ps) * us - ys * along(0, -1, vs), (get(e, 0, 1) + pn) * un - yn * along(0, 1, vn)),
         0.98 * step(get(psi, 0, 0), get(psi, -1, 0), get(psi, 1, 0), get(psi, 0, -1), get(psi, 0, 1), 2.5 * xw, 2.5 * xo, 2.5 * ys, 2.5 * yn);
}
