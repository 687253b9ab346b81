# Stripes of a fish that grows: an activator u and what it uses up (v) react after Schnakenberg, spread ever less in coordinates that grow with the skin, and are diluted as it grows.
# Source: Crampin, Gaffney and Maini, "Reaction and diffusion on growing domains: scenarios for robust pattern formation" (1999), section 2, in two dimensions with logistic growth; Kondo and Asai, "A reaction-diffusion wave on the skin of the marine angelfish Pomacanthus" (1995).
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (u, v)
ScalarVariables (float rate = 0.01, float most = 12, float dt = 0.01)
Boundary mirror
DefaultSize (2400, 1350)
Steps 60000
InputRange u (0.8, 1.2)
InputRange v (0.7, 1.1)
StepScalar size {
  float grown = exp(rate * dt * iteration);
  return grown / (1 + (grown - 1) / most);
}
StepScalar spread { return dt / (0.04 * size * size); }
StepScalar dilution { return 2 * rate * (1 - size / most); }
const float a = 0.1;
const float b = 0.9;
float laplace(float w, float e, float s, float n, float c) { return w + e + s + n - 4 * c; }
CellValue {
  float c = get(u, 0, 0), d = get(v, 0, 0), made = c * c * d;
  float lu = laplace(get(u, -1, 0), get(u, 1, 0), get(u, 0, -1), get(u, 0, 1), c), lv = laplace(get(v, -1, 0), get(v, 1, 0), get(v, 0, -1), get(v, 0, 1), d);
  return c + 0.01 * spread * lu + dt * (a - c + made - dilution * c), d + 0.4 * spread * lv + dt * (b - made - dilution * d);
}
