# What a wind that turns around the middle of the grid carries: the advection equation,
# fifth order in space by weighted essentially non-oscillatory reconstruction, third
# order in time by three Runge-Kutta stages. 0.4 is the time step over the mesh width;
# the wind is 0.5 at most along an axis.
# Source: Jiang and Shu, "Efficient implementation of weighted ENO schemes" (1996):
# smoothness indicators (here thrice as much, multiplied out in differences), weights
# and the time steps; the turning wind is a test of LeVeque, "High-resolution
# conservative algorithms" (1996).
NumDimensions 2
StencilSize (3, 3)
DataType double
Fields (u, first, second)
Temporary (first, second)
Boundary wrap
Stages (one, two, three)
DefaultSize (8192, 8192)
Steps 1000
// The value at a face, from the cell upwind of it and the differences of the five around it.
float upwind(float q, float d0, float d1, float d2, float d3) {
  // How smooth each of the three parabolas is: thrice the indicators, multiplied out.
  float s0 = 0.000003 + d1 * (10 * d1 - 11 * d0) + 4 * d0 * d0;
  float s1 = 0.000003 + d1 * (4 * d1 - 5 * d2) + 4 * d2 * d2;
  float s2 = 0.000003 + d2 * (10 * d2 - 11 * d3) + 4 * d3 * d3;
  // The weights 0.1, 0.6 and 0.3, each over its s squared, all times ten and the three squares: one division for four.
  float w0 = (s1 * s2) * (s1 * s2), w1 = 6 * (s0 * s2) * (s0 * s2), w2 = 3 * (s0 * s1) * (s0 * s1);
  return q + (w0 * (5 * d1 - 2 * d0) + w1 * (d1 + 2 * d2) + w2 * (4 * d2 - d3)) / (6 * (w0 + w1 + w2));
}
CellValue one (first) {
  float rate = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    float v = axis == 0 ? (y + 0.5) / input_size.y - 0.5 : 0.5 - (x + 0.5) / input_size.x, upper = 0;
    for (int face = 0; face >= -1; face--) {
      // The cell upwind of the face, and the differences of the five around it, the furthest upwind first.
      float q = v > 0 ? get(u, face * i, face * j) : get(u, (face + 1) * i, (face + 1) * j);
      float d0 = v > 0 ? get(u, (face - 1) * i, (face - 1) * j) - get(u, (face - 2) * i, (face - 2) * j) : get(u, (face + 2) * i, (face + 2) * j) - get(u, (face + 3) * i, (face + 3) * j);
      float d1 = v > 0 ? get(u, face * i, face * j) - get(u, (face - 1) * i, (face - 1) * j) : get(u, (face + 1) * i, (face + 1) * j) - get(u, (face + 2) * i, (face + 2) * j);
      float d2 = v > 0 ? get(u, (face + 1) * i, (face + 1) * j) - get(u, face * i, face * j) : get(u, face * i, face * j) - get(u, (face + 1) * i, (face + 1) * j);
      float d3 = v > 0 ? get(u, (face + 2) * i, (face + 2) * j) - get(u, (face + 1) * i, (face + 1) * j) : get(u, (face - 1) * i, (face - 1) * j) - get(u, face * i, face * j);
      float f = upwind(q, d0, d1, d2, d3);
      if (face == 0) upper = f; else rate += v * (upper - f);
    }
  }
  return get(u, 0, 0) - 0.4 * rate;
}
CellValue two (second) {
  float rate = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    float v = axis == 0 ? (y + 0.5) / input_size.y - 0.5 : 0.5 - (x + 0.5) / input_size.x, upper = 0;
    for (int face = 0; face >= -1; face--) {
      // The cell upwind of the face, and the differences of the five around it, the furthest upwind first.
      float q = v > 0 ? get(first, face * i, face * j) : get(first, (face + 1) * i, (face + 1) * j);
      float d0 = v > 0 ? get(first, (face - 1) * i, (face - 1) * j) - get(first, (face - 2) * i, (face - 2) * j) : get(first, (face + 2) * i, (face + 2) * j) - get(first, (face + 3) * i, (face + 3) * j);
      float d1 = v > 0 ? get(first, face * i, face * j) - get(first, (face - 1) * i, (face - 1) * j) : get(first, (face + 1) * i, (face + 1) * j) - get(first, (face + 2) * i, (face + 2) * j);
      float d2 = v > 0 ? get(first, (face + 1) * i, (face + 1) * j) - get(first, face * i, face * j) : get(first, face * i, face * j) - get(first, (face + 1) * i, (face + 1) * j);
      float d3 = v > 0 ? get(first, (face + 2) * i, (face + 2) * j) - get(first, (face + 1) * i, (face + 1) * j) : get(first, (face - 1) * i, (face - 1) * j) - get(first, face * i, face * j);
      float f = upwind(q, d0, d1, d2, d3);
      if (face == 0) upper = f; else rate += v * (upper - f);
    }
  }
  return 0.75 * get(u, 0, 0) + 0.25 * (get(first, 0, 0) - 0.4 * rate);
}
CellValue three (u) {
  float rate = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    float v = axis == 0 ? (y + 0.5) / input_size.y - 0.5 : 0.5 - (x + 0.5) / input_size.x, upper = 0;
    for (int face = 0; face >= -1; face--) {
      // The cell upwind of the face, and the differences of the five around it, the furthest upwind first.
      float q = v > 0 ? get(second, face * i, face * j) : get(second, (face + 1) * i, (face + 1) * j);
      float d0 = v > 0 ? get(second, (face - 1) * i, (face - 1) * j) - get(second, (face - 2) * i, (face - 2) * j) : get(second, (face + 2) * i, (face + 2) * j) - get(second, (face + 3) * i, (face + 3) * j);
      float d1 = v > 0 ? get(second, face * i, face * j) - get(second, (face - 1) * i, (face - 1) * j) : get(second, (face + 1) * i, (face + 1) * j) - get(second, (face + 2) * i, (face + 2) * j);
      float d2 = v > 0 ? get(second, (face + 1) * i, (face + 1) * j) - get(second, face * i, face * j) : get(second, face * i, face * j) - get(second, (face + 1) * i, (face + 1) * j);
      float d3 = v > 0 ? get(second, (face + 2) * i, (face + 2) * j) - get(second, (face + 1) * i, (face + 1) * j) : get(second, (face - 1) * i, (face - 1) * j) - get(second, face * i, face * j);
      float f = upwind(q, d0, d1, d2, d3);
      if (face == 0) upper = f; else rate += v * (upper - f);
    }
  }
  return 0.33333333333333333 * get(u, 0, 0) + 0.66666666666666667 * (get(second, 0, 0) - 0.4 * rate);
}
