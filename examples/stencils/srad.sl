# Speckle reducing anisotropic diffusion of an ultrasound image, with the speckle of a homogeneous corner found anew in each step.
# Source: Rodinia's srad_v2, after Yu and Acton, "Speckle reducing anisotropic diffusion" (2002).
NumDimensions 2
StencilSize (1, 1)
Fields (J, c, dN, dS, dW, dE)
Temporary (c, dN, dS, dW, dE)
ScalarVariables (float lambda = 0.5, int rows = 128, int columns = 128)
Boundary clamp
InputRange (0.5, 1.5)
Steps 100
StepScalar sum total { return x < columns && y < rows ? get(J, 0, 0) : 0; }
StepScalar sum squares { return x < columns && y < rows ? get(J, 0, 0) * get(J, 0, 0) : 0; }
StepScalar q0sqr {
  float n = (float)min(rows, input_size.y) * min(columns, input_size.x);
  float mean = total / n;
  return (squares / n - mean * mean) / (mean * mean);
}
Stages (coefficient, diffusion)
CellValue coefficient (c, dN, dS, dW, dE) {
  float Jc = get(J, 0, 0);
  float n = get(J, 0, -1) - Jc, s = get(J, 0, 1) - Jc, w = get(J, -1, 0) - Jc, e = get(J, 1, 0) - Jc;
  float G2 = (n * n + s * s + w * w + e * e) / (Jc * Jc);
  float L = (n + s + w + e) / Jc;
  float num = 0.5 * G2 - 0.0625 * (L * L);
  float den = 1 + 0.25 * L;
  float qsqr = num / (den * den);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  return fmin(fmax(1 / (1 + den), 0), 1), n, s, w, e;
}
CellValue diffusion (J) {
  float here = get(c, 0, 0);
  float D = here * get(dN, 0, 0) + get(c, 0, 1) * get(dS, 0, 0) + here * get(dW, 0, 0) + get(c, 1, 0) * get(dE, 0, 0);
  return get(J, 0, 0) + 0.25 * lambda * D;
}
