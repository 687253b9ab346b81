# Focused ultrasound of 0.7 MHz through a head, loud enough to steepen: pressure (MPa) now and at three times before. Each voxel of a scan has its speed of sound c
# (mm/us), density (kg/m3), nonlinearity and diffusivity of sound (mm2/us), stored in 16 bits; profiles damp waves near the sides. A bowl at z = 0 plays.
# Source: Hallaj and Cleveland, "FDTD simulation of finite-amplitude pressure and temperature fields for biomedical ultrasound" (1999), the equation of Westervelt
# in a medium of varying density; Norton and Purrington, "The Westervelt equation with viscous attenuation versus a causal propagation operator" (2009), fourth
# order in space.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (p, p1, p2, p3)
ReadOnly (c: float16, density: float16, beta: float16, diffusivity: float16, dampx[x], dampy[y], dampz[z])
Boundary constant 0
DefaultSize (448, 448, 512)
Steps 6000
InputRange c (1.4, 2.9)
InputRange density (900, 1900)
InputRange beta (3.5, 6)
InputRange diffusivity (0.0001, 0.002)
InputRange dampx (0, 0.05)
InputRange dampy (0, 0.05)
InputRange dampz (0, 0.05)
const float dx = 0.2;       # mm
const float dt = 0.025;     # us
const float pi = 3.141592653589793;
const float frequency = 0.7;
const float focus = 60;
const float water = 1.48;
const float loud = 0.4;
EdgeValue p z low {
  float rx = dx * (x - 0.5 * input_size.x), ry = dx * (y - 0.5 * input_size.y);
  float r2 = rx * rx + ry * ry, aperture = 0.4 * dx * input_size.x;
  if (r2 > aperture * aperture) return 0;
  float late = (focus - sqrt(focus * focus + r2)) / water;
  return loud * sin(2 * pi * frequency * (iteration * dt - late));
}
CellValue {
  float a = get(p, 0, 0, 0), a1 = get(p1, 0, 0, 0), a2 = get(p2, 0, 0, 0), a3 = get(p3, 0, 0, 0);
  float near = get(p, -1, 0, 0) + get(p, 1, 0, 0) + get(p, 0, -1, 0) + get(p, 0, 1, 0) + get(p, 0, 0, -1) + get(p, 0, 0, 1);
  float far = get(p, -2, 0, 0) + get(p, 2, 0, 0) + get(p, 0, -2, 0) + get(p, 0, 2, 0) + get(p, 0, 0, -2) + get(p, 0, 0, 2);
  float lap = (16 * near - far - 90 * a) / 12;
  float rho = get(density, 0, 0, 0), speed = get(c, 0, 0, 0);
  float slopes = (get(density, 1, 0, 0) - get(density, -1, 0, 0)) * (get(p, 1, 0, 0) - get(p, -1, 0, 0));
  slopes += (get(density, 0, 1, 0) - get(density, 0, -1, 0)) * (get(p, 0, 1, 0) - get(p, 0, -1, 0));
  slopes += (get(density, 0, 0, 1) - get(density, 0, 0, -1)) * (get(p, 0, 0, 1) - get(p, 0, 0, -1));
  float c2 = speed * speed;
  float courant = c2 * dt * dt / (dx * dx);
  float damp = get(dampx, 0) + get(dampy, 0) + get(dampz, 0);
  float viscous = get(diffusivity, 0, 0, 0) / (c2 * dt) * (a - 3 * a1 + 3 * a2 - a3);
  float steeper = get(beta, 0, 0, 0) / (rho * c2) * (2 * a * a - 5 * a1 * a1 + 4 * a2 * a2 - a3 * a3);
  return (2 - damp) * a - (1 - damp) * a1 + courant * (lap - slopes / (4 * rho)) + viscous + steeper, a, a1, a2;
}
