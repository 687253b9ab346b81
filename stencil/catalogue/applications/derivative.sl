# Inversion of earthquakes' records: how the misfit changes with Lame's parameters, from
# the slopes of the displacement (u, v, w) and of the adjoint one (a, b, c), fourth order.
# An operator: one step is a run, and adds to what other times left. The papers give no
# formula for the suite's derivative, of SW4: this stands in its place.
# Source: in place of benchmark derivative of Rawat et al., "Register optimizations for
# stencils on GPUs" (2018), which names SW4; Tromp, Tape and Liu, "Seismic tomography,
# adjoint methods, time reversal and banana-doughnut kernels" (2005).
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
Fields (gl, gm)
ReadOnly (u, v, w, a, b, c)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1
CellValue {
  float ux = 8 * (get(u, 1, 0, 0) - get(u, -1, 0, 0)) + get(u, -2, 0, 0) - get(u, 2, 0, 0);
  float uy = 8 * (get(u, 0, 1, 0) - get(u, 0, -1, 0)) + get(u, 0, -2, 0) - get(u, 0, 2, 0);
  float uz = 8 * (get(u, 0, 0, 1) - get(u, 0, 0, -1)) + get(u, 0, 0, -2) - get(u, 0, 0, 2);
  float vx = 8 * (get(v, 1, 0, 0) - get(v, -1, 0, 0)) + get(v, -2, 0, 0) - get(v, 2, 0, 0);
  float vy = 8 * (get(v, 0, 1, 0) - get(v, 0, -1, 0)) + get(v, 0, -2, 0) - get(v, 0, 2, 0);
  float vz = 8 * (get(v, 0, 0, 1) - get(v, 0, 0, -1)) + get(v, 0, 0, -2) - get(v, 0, 0, 2);
  float wx = 8 * (get(w, 1, 0, 0) - get(w, -1, 0, 0)) + get(w, -2, 0, 0) - get(w, 2, 0, 0);
  float wy = 8 * (get(w, 0, 1, 0) - get(w, 0, -1, 0)) + get(w, 0, -2, 0) - get(w, 0, 2, 0);
  float wz = 8 * (get(w, 0, 0, 1) - get(w, 0, 0, -1)) + get(w, 0, 0, -2) - get(w, 0, 0, 2);
  float ax = 8 * (get(a, 1, 0, 0) - get(a, -1, 0, 0)) + get(a, -2, 0, 0) - get(a, 2, 0, 0);
  float ay = 8 * (get(a, 0, 1, 0) - get(a, 0, -1, 0)) + get(a, 0, -2, 0) - get(a, 0, 2, 0);
  float az = 8 * (get(a, 0, 0, 1) - get(a, 0, 0, -1)) + get(a, 0, 0, -2) - get(a, 0, 0, 2);
  float bx = 8 * (get(b, 1, 0, 0) - get(b, -1, 0, 0)) + get(b, -2, 0, 0) - get(b, 2, 0, 0);
  float by = 8 * (get(b, 0, 1, 0) - get(b, 0, -1, 0)) + get(b, 0, -2, 0) - get(b, 0, 2, 0);
  float bz = 8 * (get(b, 0, 0, 1) - get(b, 0, 0, -1)) + get(b, 0, 0, -2) - get(b, 0, 0, 2);
  float cx = 8 * (get(c, 1, 0, 0) - get(c, -1, 0, 0)) + get(c, -2, 0, 0) - get(c, 2, 0, 0);
  float cy = 8 * (get(c, 0, 1, 0) - get(c, 0, -1, 0)) + get(c, 0, -2, 0) - get(c, 0, 2, 0);
  float cz = 8 * (get(c, 0, 0, 1) - get(c, 0, 0, -1)) + get(c, 0, 0, -2) - get(c, 0, 0, 2);
  float shear = (uy + vx) * (ay + bx) + (uz + wx) * (az + cx) + (vz + wy) * (bz + cy);
  return get(gl, 0, 0, 0) - 0.0069444444444444444 * (ux + vy + wz) * (ax + by + cz),
         get(gm, 0, 0, 0) - 0.0069444444444444444 * (2 * (ux * ax + vy * by + wz * cz) + shear);
}
