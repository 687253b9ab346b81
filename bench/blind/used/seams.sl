# A piece of one picture put into another without a seam: colours red, green and blue whose slopes are those of the piece, where the mask says so, and
# which are the other picture's elsewhere. Half sweeps with overrelaxation.
# Source: Perez, Gangnet and Blake, "Poisson image editing" (2003), equation 7; Young (1954) for the ordering.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (r, g, b)
ReadOnly (pr: uint8, pg: uint8, pb: uint8, inside: uint8)
Stages (even, odd)
Color even (x + y) % 2 == 0
Color odd (x + y) % 2 == 1
Boundary clamp
DefaultSize (6000, 4000)
Steps 500
InputRange (0, 255)
InputRange pr (0, 255)
InputRange pg (0, 255)
InputRange pb (0, 255)
InputRange inside {0, 1, 1, 1}
const float omega = 1.9;
CellValue even {
  if (get(inside, 0, 0) == 0) return get(r, 0, 0), get(g, 0, 0), get(b, 0, 0);
  float sr = get(r, -1, 0) + get(r, 1, 0) + get(r, 0, -1) + get(r, 0, 1) + 4 * get(pr, 0, 0) - get(pr, -1, 0) - get(pr, 1, 0) - get(pr, 0, -1) - get(pr, 0, 1);
  float sg = get(g, -1, 0) + get(g, 1, 0) + get(g, 0, -1) + get(g, 0, 1) + 4 * get(pg, 0, 0) - get(pg, -1, 0) - get(pg, 1, 0) - get(pg, 0, -1) - get(pg, 0, 1);
  float sb = get(b, -1, 0) + get(b, 1, 0) + get(b, 0, -1) + get(b, 0, 1) + 4 * get(pb, 0, 0) - get(pb, -1, 0) - get(pb, 1, 0) - get(pb, 0, -1) - get(pb, 0, 1);
  return (1 - omega) * get(r, 0, 0) + omega / 4 * sr, (1 - omega) * get(g, 0, 0) + omega / 4 * sg, (1 - omega) * get(b, 0, 0) + omega / 4 * sb;
}
CellValue odd {
  if (get(inside, 0, 0) == 0) return get(r, 0, 0), get(g, 0, 0), get(b, 0, 0);
  float sr = get(r, -1, 0) + get(r, 1, 0) + get(r, 0, -1) + get(r, 0, 1) + 4 * get(pr, 0, 0) - get(pr, -1, 0) - get(pr, 1, 0) - get(pr, 0, -1) - get(pr, 0, 1);
  float sg = get(g, -1, 0) + get(g, 1, 0) + get(g, 0, -1) + get(g, 0, 1) + 4 * get(pg, 0, 0) - get(pg, -1, 0) - get(pg, 1, 0) - get(pg, 0, -1) - get(pg, 0, 1);
  float sb = get(b, -1, 0) + get(b, 1, 0) + get(b, 0, -1) + get(b, 0, 1) + 4 * get(pb, 0, 0) - get(pb, -1, 0) - get(pb, 1, 0) - get(pb, 0, -1) - get(pb, 0, 1);
  return (1 - omega) * get(r, 0, 0) + omega / 4 * sr, (1 - omega) * get(g, 0, 0) + omega / 4 * sg, (1 - omega) * get(b, 0, 0) + omega / 4 * sb;
}
