# Wind over ground, large eddies only: three velocities and how warm the air is, at the cells' centres, with the viscosity that Smagorinsky gives to what is smaller, less
# where the air is stable. Along x and y it repeats; the ground rubs, warm air rises. The pressure is another program's.
# Source: Smagorinsky, "General circulation experiments with the primitive equations" (1963), section 4; Lilly (1962) for stable air; Deardorff (1972) for the box.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u, v, w, t, nu)
Temporary (nu)
ReadOnly (px, py, pz)
Boundary (wrap, wrap, clamp)
Boundary w z constant 0
EdgeValue u z low { return -0.4 * value; }
EdgeValue v z low { return -0.4 * value; }
Stages (mixing, motion)
DefaultSize (360, 360, 128)
Steps 1000
InputRange (-1, 1)
InputRange t (299, 301)
const float h = 20;
const float dt = 0.5;
const float cs = 0.18;
float ddx(float a, float b) { return (b - a) / (2 * h); }
CellValue mixing (nu) {
  float ux = ddx(get(u, -1, 0, 0), get(u, 1, 0, 0)), uy = ddx(get(u, 0, -1, 0), get(u, 0, 1, 0)), uz = ddx(get(u, 0, 0, -1), get(u, 0, 0, 1));
  float vx = ddx(get(v, -1, 0, 0), get(v, 1, 0, 0)), vy = ddx(get(v, 0, -1, 0), get(v, 0, 1, 0)), vz = ddx(get(v, 0, 0, -1), get(v, 0, 0, 1));
  float wx = ddx(get(w, -1, 0, 0), get(w, 1, 0, 0)), wy = ddx(get(w, 0, -1, 0), get(w, 0, 1, 0)), wz = ddx(get(w, 0, 0, -1), get(w, 0, 0, 1));
  float ss = 2 * (ux * ux + vy * vy + wz * wz) + (uy + vx) * (uy + vx) + (uz + wx) * (uz + wx) + (vz + wy) * (vz + wy);
  float nn = 9.81 / 300 * ddx(get(t, 0, 0, -1), get(t, 0, 0, 1));
  return cs * cs * h * h * sqrt(max(ss - 3 * nn, 0)) + 0.001;
}
float mixed(float n, float f, float a, float b) { return 0.5 * (n + f) * (b - a); }
float carried(float ul, float ur, float l, float c, float r) { return 0.25 * ((ur) * (c + r) - (ul) * (l + c)); }
CellValue motion (u, v, w, t) {
  float n = get(nu, 0, 0, 0);
  float e = get(nu, 1, 0, 0), f = get(nu, -1, 0, 0), no = get(nu, 0, 1, 0), s = get(nu, 0, -1, 0), up = get(nu, 0, 0, 1), low = get(nu, 0, 0, -1);
  float ue = get(u, 0, 0, 0) + get(u, 1, 0, 0), uf = get(u, 0, 0, 0) + get(u, -1, 0, 0);
  float vn = get(v, 0, 0, 0) + get(v, 0, 1, 0), vs = get(v, 0, 0, 0) + get(v, 0, -1, 0);
  float wu = get(w, 0, 0, 0) + get(w, 0, 0, 1), wl = get(w, 0, 0, 0) + get(w, 0, 0, -1);
  float cu = get(u, 0, 0, 0), cv = get(v, 0, 0, 0), cw = get(w, 0, 0, 0), ct = get(t, 0, 0, 0);
  float du = mixed(n, e, cu, get(u, 1, 0, 0)) + mixed(n, f, cu, get(u, -1, 0, 0)) + mixed(n, no, cu, get(u, 0, 1, 0)) + mixed(n, s, cu, get(u, 0, -1, 0))
    + mixed(n, up, cu, get(u, 0, 0, 1)) + mixed(n, low, cu, get(u, 0, 0, -1));
  float dv = mixed(n, e, cv, get(v, 1, 0, 0)) + mixed(n, f, cv, get(v, -1, 0, 0)) + mixed(n, no, cv, get(v, 0, 1, 0)) + mixed(n, s, cv, get(v, 0, -1, 0))
    + mixed(n, up, cv, get(v, 0, 0, 1)) + mixed(n, low, cv, get(v, 0, 0, -1));
  float dw = mixed(n, e, cw, get(w, 1, 0, 0)) + mixed(n, f, cw, get(w, -1, 0, 0)) + mixed(n, no, cw, get(w, 0, 1, 0)) + mixed(n, s, cw, get(w, 0, -1, 0))
    + mixed(n, up, cw, get(w, 0, 0, 1)) + mixed(n, low, cw, get(w, 0, 0, -1));
  float dh = mixed(n, e, ct, get(t, 1, 0, 0)) + mixed(n, f, ct, get(t, -1, 0, 0)) + mixed(n, no, ct, get(t, 0, 1, 0)) + mixed(n, s, ct, get(t, 0, -1, 0))
    + mixed(n, up, ct, get(t, 0, 0, 1)) + mixed(n, low, ct, get(t, 0, 0, -1));
  float au = carried(uf, ue, get(u, -1, 0, 0), cu, get(u, 1, 0, 0)) + carried(vs, vn, get(u, 0, -1, 0), cu, get(u, 0, 1, 0)) + carried(wl, wu, get(u, 0, 0, -1), cu, get(u, 0, 0, 1));
  float av = carried(uf, ue, get(v, -1, 0, 0), cv, get(v, 1, 0, 0)) + carried(vs, vn, get(v, 0, -1, 0), cv, get(v, 0, 1, 0)) + carried(wl, wu, get(v, 0, 0, -1), cv, get(v, 0, 0, 1));
  float aw = carried(uf, ue, get(w, -1, 0, 0), cw, get(w, 1, 0, 0)) + carried(vs, vn, get(w, 0, -1, 0), cw, get(w, 0, 1, 0)) + carried(wl, wu, get(w, 0, 0, -1), cw, get(w, 0, 0, 1));
  float at = carried(uf, ue, get(t, -1, 0, 0), ct, get(t, 1, 0, 0)) + carried(vs, vn, get(t, 0, -1, 0), ct, get(t, 0, 1, 0)) + carried(wl, wu, get(t, 0, 0, -1), ct, get(t, 0, 0, 1));
  return cu + dt * (du / (h * h) - au / h - get(px, 0, 0, 0)), cv + dt * (dv / (h * h) - av / h - get(py, 0, 0, 0)),
         cw + dt * (dw / (h * h) - aw / h - get(pz, 0, 0, 0) + 9.81 * (ct - 300) / 300), ct + dt * (dh / (h * h) - at / h);
}
