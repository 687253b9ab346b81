# Turbulence in a gas of one temperature in a periodic box that an ABC flow stirs: the logarithm l of the density, the velocity (u, v, w), and what a step of
# Runge and Kutta's method keeps of their rates of change (kl, ku, kv, kw). Sixth order in space; a step here is one of the three of a time step.
# Source: Pekkila, Vaisala, Kapyla, Kapyla and Anjum, "Methods for compressible fluid simulation on GPUs using high-order finite differences" (2017), isothermal;
# Brandenburg, "Computational aspects of astrophysical MHD and turbulence" (2003), for the differences; Williamson, "Low-storage Runge-Kutta schemes" (1980).
NumDimensions 3
StencilSize (3, 3, 3)
DataType float
Fields (l, u, v, w, kl, ku, kv, kw)
Boundary wrap
DefaultSize (384, 384, 384)
Steps 3000
InputRange l (-0.1, 0.1)
InputRange u (-0.3, 0.3)
InputRange v (-0.3, 0.3)
InputRange w (-0.3, 0.3)
InputRange kl (-0.001, 0.001)
InputRange ku (-0.001, 0.001)
InputRange kv (-0.001, 0.001)
InputRange kw (-0.001, 0.001)
const float pi = 3.141592653589793;
const float dx = 2 * 3.141592653589793 / 384;
const float dt = 0.004;
const float sound = 1;
const float viscosity = 0.003;
const float stir = 0.05;
const float first[4] = {0, 3.0 / 4, -3.0 / 20, 1.0 / 60};
const float second[4] = {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90};
const float mixed[4] = {0, 270.0 / 720, -27.0 / 720, 2.0 / 720};
CellValue {
  float u0 = get(u, 0, 0, 0), v0 = get(v, 0, 0, 0), w0 = get(w, 0, 0, 0);
  float lx, ly, lz, ux, uy, uz, vx, vy, vz, wx, wy, wz;
  float uxx = second[0] * u0, vyy = second[0] * v0, wzz = second[0] * w0;
  float uyy = second[0] * u0, vxx = second[0] * v0, wxx = second[0] * w0;
  float uzz = second[0] * u0, vzz = second[0] * v0, wyy = second[0] * w0;
  float uxy, uxz, vxy, vyz, wxz, wyz;
  for (int k = 1; k <= 3; k++) {
    lx += first[k] * (get(l, k, 0, 0) - get(l, -k, 0, 0));
    ly += first[k] * (get(l, 0, k, 0) - get(l, 0, -k, 0));
    lz += first[k] * (get(l, 0, 0, k) - get(l, 0, 0, -k));
    ux += first[k] * (get(u, k, 0, 0) - get(u, -k, 0, 0));
    uy += first[k] * (get(u, 0, k, 0) - get(u, 0, -k, 0));
    uz += first[k] * (get(u, 0, 0, k) - get(u, 0, 0, -k));
    vx += first[k] * (get(v, k, 0, 0) - get(v, -k, 0, 0));
    vy += first[k] * (get(v, 0, k, 0) - get(v, 0, -k, 0));
    vz += first[k] * (get(v, 0, 0, k) - get(v, 0, 0, -k));
    wx += first[k] * (get(w, k, 0, 0) - get(w, -k, 0, 0));
    wy += first[k] * (get(w, 0, k, 0) - get(w, 0, -k, 0));
    wz += first[k] * (get(w, 0, 0, k) - get(w, 0, 0, -k));
    uxx += second[k] * (get(u, k, 0, 0) + get(u, -k, 0, 0));
    uyy += second[k] * (get(u, 0, k, 0) + get(u, 0, -k, 0));
    uzz += second[k] * (get(u, 0, 0, k) + get(u, 0, 0, -k));
    vxx += second[k] * (get(v, k, 0, 0) + get(v, -k, 0, 0));
    vyy += second[k] * (get(v, 0, k, 0) + get(v, 0, -k, 0));
    vzz += second[k] * (get(v, 0, 0, k) + get(v, 0, 0, -k));
    wxx += second[k] * (get(w, k, 0, 0) + get(w, -k, 0, 0));
    wyy += second[k] * (get(w, 0, k, 0) + get(w, 0, -k, 0));
    wzz += second[k] * (get(w, 0, 0, k) + get(w, 0, 0, -k));
    uxy += mixed[k] * (get(u, k, k, 0) + get(u, -k, -k, 0) - get(u, k, -k, 0) - get(u, -k, k, 0));
    uxz += mixed[k] * (get(u, k, 0, k) + get(u, -k, 0, -k) - get(u, k, 0, -k) - get(u, -k, 0, k));
    vxy += mixed[k] * (get(v, k, k, 0) + get(v, -k, -k, 0) - get(v, k, -k, 0) - get(v, -k, k, 0));
    vyz += mixed[k] * (get(v, 0, k, k) + get(v, 0, -k, -k) - get(v, 0, k, -k) - get(v, 0, -k, k));
    wxz += mixed[k] * (get(w, k, 0, k) + get(w, -k, 0, -k) - get(w, k, 0, -k) - get(w, -k, 0, k));
    wyz += mixed[k] * (get(w, 0, k, k) + get(w, 0, -k, -k) - get(w, 0, k, -k) - get(w, 0, -k, k));
  }
  float divergence = ux + vy + wz, cs2 = sound * sound, third = divergence / 3;
  # The strain's product with the slope of l, twice.
  float sx = 2 * (ux - third) * lx + (uy + vx) * ly + (uz + wx) * lz;
  float sy = (uy + vx) * lx + 2 * (vy - third) * ly + (vz + wy) * lz;
  float sz = (uz + wx) * lx + (vz + wy) * ly + 2 * (wz - third) * lz;
  float px = 2 * pi * x / input_size.x, py = 2 * pi * y / input_size.y, pz = 2 * pi * z / input_size.z;
  float h = 1 / dx, nu = viscosity / (dx * dx);
  float rl = -h * (u0 * lx + v0 * ly + w0 * lz + divergence);
  float ru = -h * (u0 * ux + v0 * uy + w0 * uz + cs2 * lx) + nu * (uxx + uyy + uzz + (uxx + vxy + wxz) / 3 + sx) + stir * (sin(pz) + cos(py));
  float rv = -h * (u0 * vx + v0 * vy + w0 * vz + cs2 * ly) + nu * (vxx + vyy + vzz + (uxy + vyy + wyz) / 3 + sy) + stir * (sin(px) + cos(pz));
  float rw = -h * (u0 * wx + v0 * wy + w0 * wz + cs2 * lz) + nu * (wxx + wyy + wzz + (uxz + vyz + wzz) / 3 + sz) + stir * (sin(py) + cos(px));
  int part = (iteration - 1) % 3;
  float alpha = part == 0 ? 0 : part == 1 ? -5.0 / 9 : -153.0 / 128;
  float beta = part == 0 ? 1.0 / 3 : part == 1 ? 15.0 / 16 : 8.0 / 15;
  float nl = alpha * get(kl, 0, 0, 0) + dt * rl;
  float nu1 = alpha * get(ku, 0, 0, 0) + dt * ru;
  float nv = alpha * get(kv, 0, 0, 0) + dt * rv;
  float nw = alpha * get(kw, 0, 0, 0) + dt * rw;
  return get(l, 0, 0, 0) + beta * nl, u0 + beta * nu1, v0 + beta * nv, w0 + beta * nw, nl, nu1, nv, nw;
}
