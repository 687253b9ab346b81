# A flood in a straight channel with walls at its ends: Harten, Lax and van Leer's flux, and the bed's friction by Manning's law.
# Source: Toro, "Shock-Capturing Methods for Free-Surface Shallow Flows" (2001), section 10.3.
NumDimensions 1
StencilSize (1)
DataType float
Fields (h, q)
Boundary clamp
EdgeValue q { return -value; }
DefaultSize (33554432)
InputRange h (0.5, 2)
InputRange q (-0.2, 0.2)
const float g = 9.81;
const float r = 0.08;
float mixed(float sl, float sr, float fl, float fr, float ul, float ur) { return (sr * fl - sl * fr + sl * sr * (ur - ul)) / (sr - sl); }
CellValue {
  float fh[2], fq[2];
  for (int k = 0; k < 2; k++) {
    float a = get(h, k - 1), b = get(h, k), qa = get(q, k - 1), qb = get(q, k);
    float u = qa / a, v = qb / b, c = sqrt(g * a), d = sqrt(g * b);
    float sl = fmin(0, fmin(u - c, v - d)), sr = fmax(0, fmax(u + c, v + d));
    fh[k] = mixed(sl, sr, qa, qb, a, b);
    fq[k] = mixed(sl, sr, qa * u + 0.5 * g * a * a, qb * v + 0.5 * g * b * b, qa, qb);
  }
  float hn = get(h, 0) - r * (fh[1] - fh[0]), qn = get(q, 0) - r * (fq[1] - fq[0]);
  return hn, qn / (1 + 0.001 * fabs(qn) / (hn * hn * cbrt(hn)));
}
