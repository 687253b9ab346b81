# A laser that melts a track into a layer of titanium powder: the enthalpy e (J/mm3 above that at 300 K) and how much of a cell has melted once (metal), which
# conducts no longer as powder does. The track repeats along x; y = 0 is its middle; the plate below z = 0 is kept at 353 K. The surface boils off what is too hot.
# Source: Shamsundar and Sparrow, "Analysis of multidimensional conduction phase change via the enthalpy model" (1975), explicit; Gusarov, Yadroitsev, Bertrand
# and Smurov, "Model of radiation and heat transfer in laser-powder interaction zone at selective laser melting" (2009), for the powder; Anisimov, "Vaporization
# of metal absorbing laser radiation" (1968). Constants of Ti-6Al-4V.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (e, metal)
ScalarVariables (float power = 195, speed = 800)    # W, mm/s
Boundary (wrap, mirror, clamp)
Boundary e z (constant 0.14, clamp)
Boundary metal z (constant 1, clamp)
DefaultSize (2000, 151, 101)
Steps 20000
InputRange e (0, 8)
InputRange metal (0, 1)
const float dx = 0.002;         # mm
const float dt = 2.5e-8;        # s
const float absorbed = 0.35;
const float spot = 0.05;
const float pi = 3.141592653589793;
const float solid = 0.00265;    # J/(mm3 K)
const float liquid = 0.00326;
const float melts = 4.179;      # from 1877 K
const float molten = 5.443;     # to 1923 K
float temperature(float h) {
  if (h < melts) return 300 + h / solid;
  if (h < molten) return 1877 + 46 * (h - melts) / (molten - melts);
  return 1923 + (h - molten) / liquid;
}
float conductivity(float t, float is) {
  float dense = 0.033;
  if (t < 1877) dense = 0.0067 + 0.0000147 * (t - 300);
  else if (t < 1923) dense = 0.02988 + 0.00312 * (t - 1877) / 46;
  return 0.00025 + is * (dense - 0.00025);
}
float flow(float t, float k, float h, float is) {
  float other = temperature(h);
  float through = conductivity(other, is);
  return 2 * k * through / (k + through) * (other - t);
}
CellValue {
  float h = get(e, 0, 0, 0);
  float t = temperature(h);
  float k = conductivity(t, get(metal, 0, 0, 0));
  float sum = flow(t, k, get(e, -1, 0, 0), get(metal, -1, 0, 0)) + flow(t, k, get(e, 1, 0, 0), get(metal, 1, 0, 0));
  sum += flow(t, k, get(e, 0, -1, 0), get(metal, 0, -1, 0)) + flow(t, k, get(e, 0, 1, 0), get(metal, 0, 1, 0));
  sum += flow(t, k, get(e, 0, 0, -1), get(metal, 0, 0, -1)) + flow(t, k, get(e, 0, 0, 1), get(metal, 0, 0, 1));
  float gain = sum / (dx * dx);
  if (z == input_size.z - 1) {
    float length = dx * input_size.x;
    float along = dx * x - speed * dt * iteration;
    along -= length * floor(along / length + 0.5);
    float r2 = along * along + dx * y * dx * y;
    float light = 2 * absorbed * power / (pi * spot * spot) * exp(-2 * r2 / (spot * spot));
    float vapour = 22392 / sqrt(t) * exp(51277 * (1.0 / 3560 - 1 / t));
    gain += (light - vapour) / dx;
  }
  float next = h + dt * gain;
  float melt = fmin(fmax((next - melts) / (molten - melts), 0), 1);
  return next, fmax(get(metal, 0, 0, 0), melt);
}
