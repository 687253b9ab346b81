# A film of gold that a laser's pulse of a tenth of a picosecond heats: temperatures (kK) of its electrons and of its lattice, which they heat in turn. The pulse comes from above (z = 0) in the middle; below lies cold glass.
# Source: Anisimov, Kapeliovich and Perel'man, "Electron emission from metal surfaces exposed to ultrashort laser pulses" (1974); Chen, Tzou and Beraun, "A semiclassical two-temperature model for ultrafast laser heating" (2006), table 1, gold.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (te, tl, molten: uint8)
ReadOnly (dz[z])
ScalarVariables (float dt = 0.00002, float peak = 60, float spot = 60, float middle = 0.2)
Boundary x mirror
Boundary y mirror
Boundary te z (clamp, constant 0.3)
EdgeValue tl z high { return 0.5 * (value + 0.3); }
DefaultSize (255, 255, 101)
Steps 20000
InputRange te (0.3, 6)
InputRange tl (0.3, 1.5)
InputRange dz (2, 4)
StepScalar pulse { return peak * exp(-2.77 * pow((iteration * dt - middle) / 0.1, 2)); }
StepScalar max hottest { return get(te, 0, 0, 0); }
const float gamma = 0.0678;     # heat capacity of electrons by temperature (fJ/um3/K/kK)
const float cl = 2.5;
const float coupling = 21;
float conductivity(float e, float l) { return 315 * e / max(l, 0.1); }
float between(int dx, int dy, int dzz) {
  float here = conductivity(get(te, 0, 0, 0), get(tl, 0, 0, 0)), there = conductivity(get(te, dx, dy, dzz), get(tl, dx, dy, dzz));
  return 2 * here * there / (here + there) * (get(te, dx, dy, dzz) - get(te, 0, 0, 0));
}
CellValue {
  float e = get(te, 0, 0, 0), l = get(tl, 0, 0, 0), d = get(dz, 0);
  float flow = 0.04 * (between(-1, 0, 0) + between(1, 0, 0) + between(0, -1, 0) + between(0, 1, 0));
  flow += (between(0, 0, -1) / (0.5 * (d + get(dz, -1))) + between(0, 0, 1) / (0.5 * (d + get(dz, 1)))) / d;
  float px = (x - 0.5 * input_size.x) / spot, py = (y - 0.5 * input_size.y) / spot;
  float light = pulse * exp(-px * px - py * py - z / 5.0);
  float handed = coupling * (e - l), c = gamma * max(e, 0.3);
  float next = l + dt * handed / cl;
  return max(e + dt * (flow + light - handed) / c, 0.3), next, next > 1.337 && hottest > 1.337 || get(molten, 0, 0, 0) > 0 && next > 1.3;
}
