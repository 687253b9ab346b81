# Speckle reducing anisotropic diffusion of an ultrasound image: a coefficient of
# diffusion from the four derivatives, then one step of diffusion.
# Source: Rodinia's srad_v2 after Yu and Acton, "Speckle reducing anisotropic
# diffusion" (2002); section 9.2 of Virt and Wraa-Hansen, "Optimisation and GPU
# code generation of Stencils for Futhark" (2021). q0sqr, the speckle of a
# homogeneous region, is a scalar; Rodinia computes it anew each step.
NumDimensions 2
StencilSize (1, 1)
DataType float
ScalarVariables (float q0sqr = 0.05, float lambda = 0.5)
Fields (J, c, dN, dS, dW, dE)
Temporary (c, dN, dS, dW, dE)
Boundary clamp
Stages (coefficient, diffusion)
DefaultSize (8192, 8192)
Steps 100
InputRange (0.5, 1.5)
CellValue coefficient (c, dN, dS, dW, dE) {
  float Jc = get(J, 0, 0);
  float n = get(J, 0, -1) - Jc, s = get(J, 0, 1) - Jc, w = get(J, -1, 0) - Jc, e = get(J, 1, 0) - Jc;
  float G2 = (n * n + s * s + w * w + e * e) / (Jc * Jc);
  float L = (n + s + w + e) / Jc;
  float num = 0.5 * G2 - 0.0625 * (L * L);
  float den = 1 + 0.25 * L;
  float qsqr = num / (den * den);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  float cc = 1.0 / (1.0 + den);
  if (cc < 0)
    cc = 0;
  else if (cc > 1)
    cc = 1;
  return cc, n, s, w, e;
}
CellValue diffusion (J) {
  float here = get(c, 0, 0);
  float D = here * get(dN, 0, 0) + get(c, 0, 1) * get(dS, 0, 0) + here * get(dW, 0, 0) + get(c, 1, 0) * get(dE, 0, 0);
  return get(J, 0, 0) + 0.25 * lambda * D;
}
