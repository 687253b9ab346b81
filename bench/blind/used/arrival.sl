# When a seismic wave arrives first at each place of a basin, from a shot at the middle of its surface (z = 0): all cells at once, each from the earliest of its
# neighbours on each axis, until nothing comes earlier. Times in seconds; slowness in seconds a metre.
# Source: Rouy and Tourin, "A viscosity solutions approach to shape-from-shading" (1992), the upwind scheme of the eikonal equation; Jeong and Whitaker, "A fast
# iterative method for eikonal equations" (2008), section 3, for its quadratic equation.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (t)
ReadOnly (slowness)
Boundary clamp
DefaultSize (601, 501, 301)
Steps 2000
InputRange t (0, 4)
InputRange slowness (0.00018, 0.00066)
const float width = 10;
CellValue {
  if (x == input_size.x / 2 && y == input_size.y / 2 && z == 0) return 0;
  float f = width * get(slowness, 0, 0, 0);
  float p = fmin(get(t, -1, 0, 0), get(t, 1, 0, 0)), q = fmin(get(t, 0, -1, 0), get(t, 0, 1, 0)), r = fmin(get(t, 0, 0, -1), get(t, 0, 0, 1));
  float first = fmin(p, fmin(q, r)), last = fmax(p, fmax(q, r));
  float middle = fmax(fmin(p, q), fmin(fmax(p, q), r));
  float b = middle - first, c = last - first;
  float later = f;
  if (later > b) later = 0.5 * (b + sqrt(2 * f * f - b * b));
  if (later > c) later = (b + c + sqrt((b + c) * (b + c) - 3 * (b * b + c * c - f * f))) / 3;
  return fmin(get(t, 0, 0, 0), first + later);
}
Reduce max { return get(t, 0, 0, 0) - value; }
Until < 1e-6 every 20
