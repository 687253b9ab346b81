# An explosion in the air over ground: density, three momenta and energy, in sweeps along x, y and z in which slopes (limited after van Leer) take each cell half a step on
# before Riemann problems with contact waves are solved at its faces. The ground (z = 0) turns the momentum across it round; air leaves at the other sides. Steps as long as is stable.
# Source: van Leer, "On the relation between the upwind-differencing schemes of Godunov, Engquist-Osher and Roe" (1984), Hancock's step; Toro, Spruce and Speares, "Restoration
# of the contact surface in the HLL-Riemann solver" (1994); Toro, "Riemann Solvers and Numerical Methods for Fluid Dynamics" (2009), sections 10.4, 14.4 and 16.4.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (r, mx, my, mz, e)
Boundary clamp
EdgeValue mz z low { return -value; }
Stages (alongx, alongy, alongz)
DefaultSize (300, 300, 200)
Steps 800
InputRange r (0.8, 1.4)
InputRange mx (-0.3, 0.3)
InputRange my (-0.3, 0.3)
InputRange mz (-0.3, 0.3)
InputRange e (2.2, 3.2)
const float heat = 1.4;
const float least = 0.00001;
float sound(float d, float p) { return sqrt(heat * p / d); }
float squeezed(float d, float px, float py, float pz, float en) { return fmax((heat - 1) * (en - 0.5 * (px * px + py * py + pz * pz) / d), least); }
StepScalar max fastest {
  float d = get(r, 0, 0, 0);
  float most = fmax(fabs(get(mx, 0, 0, 0)), fmax(fabs(get(my, 0, 0, 0)), fabs(get(mz, 0, 0, 0)))) / d;
  return most + sound(d, squeezed(d, get(mx, 0, 0, 0), get(my, 0, 0, 0), get(mz, 0, 0, 0), get(e, 0, 0, 0)));
}
StepScalar ratio { return 0.4 / fastest; }    # of the time step to the mesh width
float limited(float a, float b) { return 2 * fmax(a * b, 0) * (a + b) / ((a + b) * (a + b) + 0.00000001); }
CellValue alongx (r, mx, my, mz, e) {
  float w[5][5];    # density, speed across the faces, the two along them, pressure
  for (int k = 0; k < 5; k++) {
    float d = get(r, k - 2, 0, 0);
    float p = squeezed(d, get(mx, k - 2, 0, 0), get(my, k - 2, 0, 0), get(mz, k - 2, 0, 0), get(e, k - 2, 0, 0));
    w[k][0] = d;
    w[k][1] = get(mx, k - 2, 0, 0) / d;
    w[k][2] = get(my, k - 2, 0, 0) / d;
    w[k][3] = get(mz, k - 2, 0, 0) / d;
    w[k][4] = p;
  }
  float low[3][5], high[3][5];    # at the faces of this cell and of both beside it, half a step on
  for (int k = 0; k < 3; k++) {
    float s[5], change[5];
    for (int q = 0; q < 5; q++) s[q] = limited(w[k + 1][q] - w[k][q], w[k + 2][q] - w[k + 1][q]);
    float u = w[k + 1][1];
    change[0] = u * s[0] + w[k + 1][0] * s[1];
    change[1] = u * s[1] + s[4] / w[k + 1][0];
    change[2] = u * s[2];
    change[3] = u * s[3];
    change[4] = u * s[4] + heat * w[k + 1][4] * s[1];
    for (int q = 0; q < 5; q++) {
      float m = w[k + 1][q] - 0.5 * ratio * change[q];
      low[k][q] = q == 0 || q == 4 ? fmax(m - 0.5 * s[q], least) : m - 0.5 * s[q];
      high[k][q] = q == 0 || q == 4 ? fmax(m + 0.5 * s[q], least) : m + 0.5 * s[q];
    }
  }
  float f[2][5];
  for (int k = 0; k < 2; k++) {
    float cl = sound(high[k][0], high[k][4]), cr = sound(low[k + 1][0], low[k + 1][4]);
    float ul = high[k][1], ur = low[k + 1][1];
    float sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
    float ml = high[k][0] * (sl - ul), mr = low[k + 1][0] * (sr - ur);
    float mid = (low[k + 1][4] - high[k][4] + ml * ul - mr * ur) / (ml - mr);
    float a[5];
    for (int q = 0; q < 5; q++) a[q] = mid >= 0 ? high[k][q] : low[k + 1][q];
    float wave = mid >= 0 ? sl : sr;
    float outer = mid >= 0 ? fmin(sl, 0) : fmax(sr, 0);
    float u = a[1];
    float energy = a[4] / (heat - 1) + 0.5 * a[0] * (u * u + a[2] * a[2] + a[3] * a[3]);
    float star = a[0] * (wave - u) / (wave - mid);
    float more = energy / a[0] + (mid - u) * (mid + a[4] / (a[0] * (wave - u)));
    f[k][0] = a[0] * u + outer * (star - a[0]);
    f[k][1] = a[0] * u * u + a[4] + outer * (star * mid - a[0] * u);
    f[k][2] = a[0] * u * a[2] + outer * (star - a[0]) * a[2];
    f[k][3] = a[0] * u * a[3] + outer * (star - a[0]) * a[3];
    f[k][4] = u * (energy + a[4]) + outer * (star * more - energy);
  }
  return get(r, 0, 0, 0) - ratio * (f[1][0] - f[0][0]), get(mx, 0, 0, 0) - ratio * (f[1][1] - f[0][1]),
         get(my, 0, 0, 0) - ratio * (f[1][2] - f[0][2]), get(mz, 0, 0, 0) - ratio * (f[1][3] - f[0][3]),
         get(e, 0, 0, 0) - ratio * (f[1][4] - f[0][4]);
}
CellValue alongy (r, mx, my, mz, e) {
  float w[5][5];    # density, speed across the faces, the two along them, pressure
  for (int k = 0; k < 5; k++) {
    float d = get(r, 0, k - 2, 0);
    float p = squeezed(d, get(mx, 0, k - 2, 0), get(my, 0, k - 2, 0), get(mz, 0, k - 2, 0), get(e, 0, k - 2, 0));
    w[k][0] = d;
    w[k][1] = get(my, 0, k - 2, 0) / d;
    w[k][2] = get(mz, 0, k - 2, 0) / d;
    w[k][3] = get(mx, 0, k - 2, 0) / d;
    w[k][4] = p;
  }
  float low[3][5], high[3][5];    # at the faces of this cell and of both beside it, half a step on
  for (int k = 0; k < 3; k++) {
    float s[5], change[5];
    for (int q = 0; q < 5; q++) s[q] = limited(w[k + 1][q] - w[k][q], w[k + 2][q] - w[k + 1][q]);
    float u = w[k + 1][1];
    change[0] = u * s[0] + w[k + 1][0] * s[1];
    change[1] = u * s[1] + s[4] / w[k + 1][0];
    change[2] = u * s[2];
    change[3] = u * s[3];
    change[4] = u * s[4] + heat * w[k + 1][4] * s[1];
    for (int q = 0; q < 5; q++) {
      float m = w[k + 1][q] - 0.5 * ratio * change[q];
      low[k][q] = q == 0 || q == 4 ? fmax(m - 0.5 * s[q], least) : m - 0.5 * s[q];
      high[k][q] = q == 0 || q == 4 ? fmax(m + 0.5 * s[q], least) : m + 0.5 * s[q];
    }
  }
  float f[2][5];
  for (int k = 0; k < 2; k++) {
    float cl = sound(high[k][0], high[k][4]), cr = sound(low[k + 1][0], low[k + 1][4]);
    float ul = high[k][1], ur = low[k + 1][1];
    float sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
    float ml = high[k][0] * (sl - ul), mr = low[k + 1][0] * (sr - ur);
    float mid = (low[k + 1][4] - high[k][4] + ml * ul - mr * ur) / (ml - mr);
    float a[5];
    for (int q = 0; q < 5; q++) a[q] = mid >= 0 ? high[k][q] : low[k + 1][q];
    float wave = mid >= 0 ? sl : sr;
    float outer = mid >= 0 ? fmin(sl, 0) : fmax(sr, 0);
    float u = a[1];
    float energy = a[4] / (heat - 1) + 0.5 * a[0] * (u * u + a[2] * a[2] + a[3] * a[3]);
    float star = a[0] * (wave - u) / (wave - mid);
    float more = energy / a[0] + (mid - u) * (mid + a[4] / (a[0] * (wave - u)));
    f[k][0] = a[0] * u + outer * (star - a[0]);
    f[k][1] = a[0] * u * u + a[4] + outer * (star * mid - a[0] * u);
    f[k][2] = a[0] * u * a[2] + outer * (star - a[0]) * a[2];
    f[k][3] = a[0] * u * a[3] + outer * (star - a[0]) * a[3];
    f[k][4] = u * (energy + a[4]) + outer * (star * more - energy);
  }
  return get(r, 0, 0, 0) - ratio * (f[1][0] - f[0][0]), get(mx, 0, 0, 0) - ratio * (f[1][3] - f[0][3]),
         get(my, 0, 0, 0) - ratio * (f[1][1] - f[0][1]), get(mz, 0, 0, 0) - ratio * (f[1][2] - f[0][2]),
         get(e, 0, 0, 0) - ratio * (f[1][4] - f[0][4]);
}
CellValue alongz (r, mx, my, mz, e) {
  float w[5][5];    # density, speed across the faces, the two along them, pressure
  for (int k = 0; k < 5; k++) {
    float d = get(r, 0, 0, k - 2);
    float p = squeezed(d, get(mx, 0, 0, k - 2), get(my, 0, 0, k - 2), get(mz, 0, 0, k - 2), get(e, 0, 0, k - 2));
    w[k][0] = d;
    w[k][1] = get(mz, 0, 0, k - 2) / d;
    w[k][2] = get(mx, 0, 0, k - 2) / d;
    w[k][3] = get(my, 0, 0, k - 2) / d;
    w[k][4] = p;
  }
  float low[3][5], high[3][5];    # at the faces of this cell and of both beside it, half a step on
  for (int k = 0; k < 3; k++) {
    float s[5], change[5];
    for (int q = 0; q < 5; q++) s[q] = limited(w[k + 1][q] - w[k][q], w[k + 2][q] - w[k + 1][q]);
    float u = w[k + 1][1];
    change[0] = u * s[0] + w[k + 1][0] * s[1];
    change[1] = u * s[1] + s[4] / w[k + 1][0];
    change[2] = u * s[2];
    change[3] = u * s[3];
    change[4] = u * s[4] + heat * w[k + 1][4] * s[1];
    for (int q = 0; q < 5; q++) {
      float m = w[k + 1][q] - 0.5 * ratio * change[q];
      low[k][q] = q == 0 || q == 4 ? fmax(m - 0.5 * s[q], least) : m - 0.5 * s[q];
      high[k][q] = q == 0 || q == 4 ? fmax(m + 0.5 * s[q], least) : m + 0.5 * s[q];
    }
  }
  float f[2][5];
  for (int k = 0; k < 2; k++) {
    float cl = sound(high[k][0], high[k][4]), cr = sound(low[k + 1][0], low[k + 1][4]);
    float ul = high[k][1], ur = low[k + 1][1];
    float sl = fmin(ul - cl, ur - cr), sr = fmax(ul + cl, ur + cr);
    float ml = high[k][0] * (sl - ul), mr = low[k + 1][0] * (sr - ur);
    float mid = (low[k + 1][4] - high[k][4] + ml * ul - mr * ur) / (ml - mr);
    float a[5];
    for (int q = 0; q < 5; q++) a[q] = mid >= 0 ? high[k][q] : low[k + 1][q];
    float wave = mid >= 0 ? sl : sr;
    float outer = mid >= 0 ? fmin(sl, 0) : fmax(sr, 0);
    float u = a[1];
    float energy = a[4] / (heat - 1) + 0.5 * a[0] * (u * u + a[2] * a[2] + a[3] * a[3]);
    float star = a[0] * (wave - u) / (wave - mid);
    float more = energy / a[0] + (mid - u) * (mid + a[4] / (a[0] * (wave - u)));
    f[k][0] = a[0] * u + outer * (star - a[0]);
    f[k][1] = a[0] * u * u + a[4] + outer * (star * mid - a[0] * u);
    f[k][2] = a[0] * u * a[2] + outer * (star - a[0]) * a[2];
    f[k][3] = a[0] * u * a[3] + outer * (star - a[0]) * a[3];
    f[k][4] = u * (energy + a[4]) + outer * (star * more - energy);
  }
  return get(r, 0, 0, 0) - ratio * (f[1][0] - f[0][0]), get(mx, 0, 0, 0) - ratio * (f[1][2] - f[0][2]),
         get(my, 0, 0, 0) - ratio * (f[1][3] - f[0][3]), get(mz, 0, 0, 0) - ratio * (f[1][1] - f[0][1]),
         get(e, 0, 0, 0) - ratio * (f[1][4] - f[0][4]);
}
