# A tumour in a scan of bytes, found: the surface u = 0 moves until it parts the volume into two of as even a brightness as can be, and is short. What is inside and what outside
# are bright in the mean is known after each step. It ends when no voxel changes by more than a thousandth.
# Source: Chan and Vese, "Active contours without edges" (2001), with its second, smooth step, explicit; here in a volume whose slices are as far
# apart as its pixels.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u)
ReadOnly (scan: uint8)
ScalarVariables (float length = 0.2, balloon = 0)
Boundary clamp
DefaultSize (320, 320, 260)
Steps 500
InputRange u (-2, 2)
InputRange scan (0, 255)
const float wide = 1;          # of the smooth step
const float dt = 0.4;
const float pi = 3.141592653589793;
float step(float v) { return 0.5 + atan(v / wide) / pi; }
StepScalar sum volume { return step(get(u, 0, 0, 0)); }
StepScalar sum bright { return step(get(u, 0, 0, 0)) * get(scan, 0, 0, 0) / 255; }
StepScalar sum total { return get(scan, 0, 0, 0) / 255; }
StepScalar inside { return bright / max(volume, 0.001); }
StepScalar outside { return (total - bright) / max(1.0 * input_size.x * input_size.y * input_size.z - volume, 0.001); }
float twist(float ll, float rl, float lr, float rr) { return 0.25 * (ll - rl - lr + rr); }
CellValue {
  float c = get(u, 0, 0, 0);
  float ux = 0.5 * (get(u, 1, 0, 0) - get(u, -1, 0, 0)), uy = 0.5 * (get(u, 0, 1, 0) - get(u, 0, -1, 0)), uz = 0.5 * (get(u, 0, 0, 1) - get(u, 0, 0, -1));
  float uxx = get(u, -1, 0, 0) - 2 * c + get(u, 1, 0, 0), uyy = get(u, 0, -1, 0) - 2 * c + get(u, 0, 1, 0), uzz = get(u, 0, 0, -1) - 2 * c + get(u, 0, 0, 1);
  float uxy = twist(get(u, -1, -1, 0), get(u, 1, -1, 0), get(u, -1, 1, 0), get(u, 1, 1, 0));
  float uxz = twist(get(u, -1, 0, -1), get(u, 1, 0, -1), get(u, -1, 0, 1), get(u, 1, 0, 1));
  float uyz = twist(get(u, 0, -1, -1), get(u, 0, 1, -1), get(u, 0, -1, 1), get(u, 0, 1, 1));
  float steep = ux * ux + uy * uy + uz * uz + 0.04;
  float bent = ((uy * uy + uz * uz) * uxx + (ux * ux + uz * uz) * uyy + (ux * ux + uy * uy) * uzz + 0.04 * (uxx + uyy + uzz)
      - 2 * (ux * uy * uxy + ux * uz * uxz + uy * uz * uyz)) / (steep * sqrt(steep));
  float near = wide / (pi * (wide * wide + c * c));
  float light = get(scan, 0, 0, 0) / 255;
  return c + dt * near * (length * bent - balloon - (light - inside) * (light - inside) + (light - outside) * (light - outside));
}
Reduce max { return fabs(value - get(u, 0, 0, 0)); }
Until < 0.001 every 10
