# A slab of a heart's wall: the membrane's voltage (mV), calcium within (mol/l) and six gates, and when each cell was excited first (ms). Voltage spreads faster
# along the fibres, which turn from layer to layer: half a step before the cells react and half a step after.
# Source: Beeler and Reuter, "Reconstruction of the action potential of ventricular myocardial fibres" (1977), table 1; Rush and Larsen (1978) for the gates;
# Fenton and Karma, "Vortex dynamics in three-dimensional continuous myocardium with fiber rotation" (1998), equation 2; Qu and Garfinkel (1999) for the halves.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (v, ca, x1, m, h, j, d, f, excited)
ReadOnly (angle[z])
Boundary clamp
Stages (before, reaction, after)
DefaultSize (120, 100, 61)
InputRange v (-85, 20)
InputRange ca (1e-7, 4e-6)
InputRange x1 (0, 1)
InputRange m (0, 1)
InputRange h (0, 1)
InputRange j (0, 1)
InputRange d (0, 1)
InputRange f (0, 1)
InputRange excited {-1, 0}
InputRange angle (-1, 1)
const float dt = 0.02;
const float dx = 0.02;           # cm
const float along = 0.001;       # cm2/ms
const float across = 0.0002;
const float through = 0.0001;
const float threshold = -30;
float spread(float t) {
  float c = cos(get(angle, 0)), s = sin(get(angle, 0));
  float dxx = along * c * c + across * s * s, dyy = along * s * s + across * c * c, dxy = (along - across) * c * s;
  float vxx = get(v, -1, 0, 0) - 2 * get(v, 0, 0, 0) + get(v, 1, 0, 0);
  float vyy = get(v, 0, -1, 0) - 2 * get(v, 0, 0, 0) + get(v, 0, 1, 0);
  float vzz = get(v, 0, 0, -1) - 2 * get(v, 0, 0, 0) + get(v, 0, 0, 1);
  float vxy = 0.25 * (get(v, 1, 1, 0) - get(v, -1, 1, 0) - get(v, 1, -1, 0) + get(v, -1, -1, 0));
  return get(v, 0, 0, 0) + t / (dx * dx) * (dxx * vxx + dyy * vyy + 2 * dxy * vxy + through * vzz);
}
float rate(float u, float c1, float c2, float c3, float c6) { return c1 * exp(c2 * (u + c3)) / (exp(c6 * (u + c3)) + 1); }
float gate(float now, float alpha, float beta) {
  float rest = alpha / (alpha + beta);
  return rest + (now - rest) * exp(-dt * (alpha + beta));
}
# k u / (1 - exp(-k u)), also where u is 0.
float ramp(float k, float u) {
  if (fabs(k * u) < 0.001) return 1 + 0.5 * k * u;
  return k * u / (1 - exp(-k * u));
}
CellValue before (v) { return spread(0.5 * dt); }
CellValue reaction (v, ca, x1, m, h, j, d, f, excited) {
  float u = get(v, 0, 0, 0), c = get(ca, 0, 0, 0);
  float ik = 0.35 * (4 * (exp(0.04 * (u + 85)) - 1) / (exp(0.08 * (u + 53)) + exp(0.04 * (u + 53))) + 5 * ramp(0.04, u + 23));
  float ix = get(x1, 0, 0, 0) * 0.8 * (exp(0.04 * (u + 77)) - 1) / exp(0.04 * (u + 35));
  float gm = get(m, 0, 0, 0);
  float ina = (4 * gm * gm * gm * get(h, 0, 0, 0) * get(j, 0, 0, 0) + 0.003) * (u - 50);
  float is = 0.09 * get(d, 0, 0, 0) * get(f, 0, 0, 0) * (u + 82.3 + 13.0287 * log(c));
  float t = get(excited, 0, 0, 0);
  if (t <= 0 && u > threshold) t = iteration * dt;
  return u - dt * (ik + ix + ina + is),
         c + dt * (-1e-7 * is + 0.07 * (1e-7 - c)),
         gate(get(x1, 0, 0, 0), rate(u, 0.0005, 0.083, 50, 0.057), rate(u, 0.0013, -0.06, 20, -0.04)),
         gate(gm, 10 * ramp(0.1, u + 47), 40 * exp(-0.056 * (u + 72))),
         gate(get(h, 0, 0, 0), 0.126 * exp(-0.25 * (u + 77)), rate(u, 1.7, 0, 22.5, -0.082)),
         gate(get(j, 0, 0, 0), 0.055 * exp(-0.25 * (u + 78)) / (exp(-0.2 * (u + 78)) + 1), rate(u, 0.3, 0, 32, -0.1)),
         gate(get(d, 0, 0, 0), rate(u, 0.095, -0.01, -5, -0.072), rate(u, 0.07, -0.017, 44, 0.05)),
         gate(get(f, 0, 0, 0), rate(u, 0.012, -0.008, 28, 0.15), rate(u, 0.0065, -0.02, 30, -0.2)),
         t;
}
CellValue after (v) { return spread(0.5 * dt); }
