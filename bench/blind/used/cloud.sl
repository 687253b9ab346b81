# Warm rain in the plane: heat, vapour, cloud and rain are carried by a wind, vapour condenses to its saturation, cloud becomes rain, rain falls and evaporates.
# Source: Kessler (1969) as in Klemp and Wilhelmson, "The simulation of three-dimensional convective storm dynamics" (1978), equations 2.5 to 2.14; Soong and Ogura (1973), saturation adjustment.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (theta, qv, qc, qr)
ReadOnly (u, w, exner[y], rho[y])
Boundary x wrap
Boundary y clamp
DefaultSize (4096, 1024)
Steps 1000
InputRange theta (285, 300)
InputRange qv (0.002, 0.012)
InputRange qc (0, 0.002)
InputRange qr (0, 0.003)
InputRange u (-0.3, 0.3)
InputRange w (-0.3, 0.3)
InputRange exner (0.85, 1)
InputRange rho (0.7, 1.2)
const float dt = 5;
float carried(float l, float here, float r, float below, float above) {
  float a = get(u, 0, 0), b = get(w, 0, 0);
  return here - max(a, 0) * (here - l) - min(a, 0) * (r - here) - max(b, 0) * (here - below) - min(b, 0) * (above - here);
}
float fall(int j) { return 36.34 * pow(0.001 * get(rho, j) * max(get(qr, 0, j), 0), 0.1346) * sqrt(1.2 / get(rho, j)); }
CellValue {
  float t = carried(get(theta, -1, 0), get(theta, 0, 0), get(theta, 1, 0), get(theta, 0, -1), get(theta, 0, 1));
  float v = carried(get(qv, -1, 0), get(qv, 0, 0), get(qv, 1, 0), get(qv, 0, -1), get(qv, 0, 1));
  float c = carried(get(qc, -1, 0), get(qc, 0, 0), get(qc, 1, 0), get(qc, 0, -1), get(qc, 0, 1));
  float r = carried(get(qr, -1, 0), get(qr, 0, 0), get(qr, 1, 0), get(qr, 0, -1), get(qr, 0, 1));
  r += dt / (100 * get(rho, 0)) * (get(rho, 1) * fall(1) * get(qr, 0, 1) - get(rho, 0) * fall(0) * get(qr, 0, 0));
  r = max(r, 0);
  c = max(c, 0);
  float grow = dt * (0.001 * max(c - 0.001, 0) + 2.2 * c * pow(r, 0.875));
  grow = min(grow, c);
  c -= grow;
  r += grow;
  float pi = get(exner, 0), temp = pi * t;
  float p = 1000 * pow(pi, 3.5), es = 6.112 * exp(17.67 * (temp - 273.15) / (temp - 29.65));
  float qs = 0.622 * es / (p - es);
  float wet = max((v - qs) / (1 + qs * 4093 * 2490 / ((temp - 36) * (temp - 36))), -c);
  float dry = 0;
  if (v < qs) {
    float wetness = 0.001 * get(rho, 0) * r;
    dry = min(dt / get(rho, 0) * (1 - v / qs) * (1.6 + 124.9 * pow(wetness, 0.2046)) * pow(wetness, 0.525) / (540000 + 255000000 / (p * qs)), r);
  }
  return t + 2490 / pi * (wet - dry), v - wet + dry, c + wet, r - dry;
}
