# Lenia, continuous life: each cell grows by how much of the ring around it is alive, and is cut to 0 and 1. The world repeats.
# Source: Chan, "Lenia: biology of artificial life" (2019), section 2 and 4.1: radius 7, an exponential ring, exponential growth with mu 0.15 and sigma 0.017.
NumDimensions 2
StencilSize (7, 7)
DataType float
Boundary wrap
DefaultSize (4096, 4000)
Steps 500
InputRange (0, 1)
const float mu = 0.15;
const float sigma = 0.017;
CellValue {
  float alive = 0, all = 0;
  for (int j = -7; j <= 7; j++)
    for (int i = -7; i <= 7; i++) {
      const float r = sqrt(1.0 * i * i + 1.0 * j * j) / 7;
      if (r > 0 && r < 1) {
        const float w = exp(4 - 1 / (r * (1 - r)));
        all += w;
        alive += w * get(i, j);
      }
    }
  float d = (alive / all - mu) / sigma;
  return min(max(get(0, 0) + 0.1 * (2 * exp(-0.5 * d * d) - 1), 0), 1);
}
