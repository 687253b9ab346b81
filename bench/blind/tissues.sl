# What a scan of a head shows in each voxel: how likely it is fluid, grey matter or white matter, by how bright it is (each tissue has a mean and a deviation) and by what the 26
# voxels around are likely to be, near ones more. First what those say of each tissue is added up, then all voxels change their minds.
# Source: Zhang, "The mean field theory in EM procedures for Markov random fields" (1992); Zhang, Brady and Smith, "Segmentation of brain MR images through a
# hidden Markov random field model and the expectation-maximization algorithm" (2001), the model.
NumDimensions 3
StencilSize (1, 1, 1)
DataType bfloat16
Fields (fluid, grey, white, sayf, sayg, sayw)
Temporary (sayf, sayg, sayw)
ReadOnly (scan: uint8)
ScalarVariables (float beta = 0.3)
Boundary clamp
Stages (ask, decide)
DefaultSize (341, 405, 363)
Steps 60
InputRange fluid (0, 0.6)
InputRange grey (0, 0.6)
InputRange white (0, 0.6)
InputRange scan (20, 230)
const float edge = 0.70710678;
const float corner = 0.57735027;
# Less half the square of how many deviations the scan is off the tissue's mean, and the logarithm of the deviation.
float fits(float mean, float deviation) {
  float off = (get(scan, 0, 0, 0) - mean) / deviation;
  return -0.5 * off * off - log(deviation);
}
CellValue ask (sayf, sayg, sayw) {
  float f = 0, g = 0, w = 0;
  for (int k = -1; k <= 1; k++)
    for (int j = -1; j <= 1; j++)
      for (int i = -1; i <= 1; i++) {
        const int far = abs(i) + abs(j) + abs(k);
        if (far > 0) {
          const float near = far == 1 ? 1 : far == 2 ? edge : corner;
          f += near * get(fluid, i, j, k);
          g += near * get(grey, i, j, k);
          w += near * get(white, i, j, k);
        }
      }
  return f, g, w;
}
CellValue decide (fluid, grey, white) {
  float f = fits(55, 18) + beta * get(sayf, 0, 0, 0), g = fits(112, 15) + beta * get(sayg, 0, 0, 0), w = fits(160, 12) + beta * get(sayw, 0, 0, 0);
  float most = fmax(f, fmax(g, w));
  float pf = exp(f - most), pg = exp(g - most), pw = exp(w - most);
  float all = pf + pg + pw;
  return pf / all, pg / all, pw / all;
}
