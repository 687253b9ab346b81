# Sound in a uniform flow: pressure and two velocities, by the method of Lax and Friedrichs.
# Source: LeVeque, "Finite Volume Methods for Hyperbolic Problems" (2002), sections 2.8 and 4.6; Mach numbers 0.3 and 0.1.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (p, u, v)
Boundary wrap
DefaultSize (6144, 5000)
const float r = 0.35;
float mean(float a, float b, float c, float d) { return 0.25 * (a + b + c + d); }
CellValue {
  float px = get(p, 1, 0) - get(p, -1, 0), py = get(p, 0, 1) - get(p, 0, -1);
  float ux = get(u, 1, 0) - get(u, -1, 0), uy = get(u, 0, 1) - get(u, 0, -1);
  float vx = get(v, 1, 0) - get(v, -1, 0), vy = get(v, 0, 1) - get(v, 0, -1);
  return mean(get(p, -1, 0), get(p, 1, 0), get(p, 0, -1), get(p, 0, 1)) - 0.5 * r * (0.3 * px + 0.1 * py + ux + vy),
         mean(get(u, -1, 0), get(u, 1, 0), get(u, 0, -1), get(u, 0, 1)) - 0.5 * r * (0.3 * ux + 0.1 * uy + px),
         mean(get(v, -1, 0), get(v, 1, 0), get(v, 0, -1), get(v, 0, 1)) - 0.5 * r * (0.3 * vx + 0.1 * vy + py);
}
