# What a wind that turns around the middle of the grid carries: the advection
# equation, fifth order in space by weighted essentially non-oscillatory
# reconstruction, third order in time by three Runge-Kutta stages. 0.4 is the time
# step over the mesh width; the wind is 0.5 at most along an axis.
# Source: Jiang and Shu, "Efficient implementation of weighted ENO schemes" (1996):
# smoothness indicators, weights and the time steps; the turning
# wind is a test of LeVeque, "High-resolution conservative algorithms" (1996).
NumDimensions 2
StencilSize (3, 3)
DataType double
Fields (u, first, second)
Temporary (first, second)
Boundary wrap
Stages (one, two, three)
DefaultSize (8192, 8192)
Steps 1000
CellValue one (first) {
  float rate = 0;
  for (int axis = 0; axis <= 1; axis++) {
    const int i = 1 - axis, j = axis;
    float v = axis == 0 ? (y + 0.5) / input_size.y - 0.5 : 0.5 - (x + 0.5) / input_size.x, upper = 0;
    for (int face = 0; face >= -1; face--) {
      // The five cells around the upwind side of the face, the furthest upwind first.
      float q0 = v > 0 ? get(u, (face - 2) * i, (face - 2) * j) : get(u, (face + 3) * i, (face + 3) * j);
      float q1 = v > 0 ? get(u, (face - 1) * i, (face - 1) * j) : get(u, (face + 2) * i, (face + 2) * j);
      float q2 = v > 0 ? get(u, face * i, face * j) : get(u, (face + 1) * i, (face + 1) * j);
      float q3 = v > 0 ? get(u, (face + 1) * i, (face + 1) * j) : get(u, face * i, face * j);
      float q4 = v > 0 ? get(u, (face + 2) * i, (face + 2) * j) : get(u, (face - 1) * i, (face - 1) * j);
      float s = q0 - 2 * q1 + q2, d = q0 - 4 * q1 + 3 * q2;
      float e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w0 = 0.1 / (e * e);
      s = q1 - 2 * q2 + q3;
      d = q1 - q3;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w1 = 0.6 / (e * e);
      s = q2 - 2 * q3 + q4;
      d = 3 * q2 - 4 * q3 + q4;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w2 = 0.3 / (e * e);
      float f = (w0 * (2 * q0 - 7 * q1 + 11 * q2) + w1 * (5 * q2 - q1 + 2 * q3) + w2 * (2 * q2 + 5 * q3 - q4)) / (6 * (w0 + w1 + w2));
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
      // The five cells around the upwind side of the face, the furthest upwind first.
      float q0 = v > 0 ? get(first, (face - 2) * i, (face - 2) * j) : get(first, (face + 3) * i, (face + 3) * j);
      float q1 = v > 0 ? get(first, (face - 1) * i, (face - 1) * j) : get(first, (face + 2) * i, (face + 2) * j);
      float q2 = v > 0 ? get(first, face * i, face * j) : get(first, (face + 1) * i, (face + 1) * j);
      float q3 = v > 0 ? get(first, (face + 1) * i, (face + 1) * j) : get(first, face * i, face * j);
      float q4 = v > 0 ? get(first, (face + 2) * i, (face + 2) * j) : get(first, (face - 1) * i, (face - 1) * j);
      float s = q0 - 2 * q1 + q2, d = q0 - 4 * q1 + 3 * q2;
      float e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w0 = 0.1 / (e * e);
      s = q1 - 2 * q2 + q3;
      d = q1 - q3;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w1 = 0.6 / (e * e);
      s = q2 - 2 * q3 + q4;
      d = 3 * q2 - 4 * q3 + q4;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w2 = 0.3 / (e * e);
      float f = (w0 * (2 * q0 - 7 * q1 + 11 * q2) + w1 * (5 * q2 - q1 + 2 * q3) + w2 * (2 * q2 + 5 * q3 - q4)) / (6 * (w0 + w1 + w2));
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
      // The five cells around the upwind side of the face, the furthest upwind first.
      float q0 = v > 0 ? get(second, (face - 2) * i, (face - 2) * j) : get(second, (face + 3) * i, (face + 3) * j);
      float q1 = v > 0 ? get(second, (face - 1) * i, (face - 1) * j) : get(second, (face + 2) * i, (face + 2) * j);
      float q2 = v > 0 ? get(second, face * i, face * j) : get(second, (face + 1) * i, (face + 1) * j);
      float q3 = v > 0 ? get(second, (face + 1) * i, (face + 1) * j) : get(second, face * i, face * j);
      float q4 = v > 0 ? get(second, (face + 2) * i, (face + 2) * j) : get(second, (face - 1) * i, (face - 1) * j);
      float s = q0 - 2 * q1 + q2, d = q0 - 4 * q1 + 3 * q2;
      float e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w0 = 0.1 / (e * e);
      s = q1 - 2 * q2 + q3;
      d = q1 - q3;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w1 = 0.6 / (e * e);
      s = q2 - 2 * q3 + q4;
      d = 3 * q2 - 4 * q3 + q4;
      e = 0.000001 + 1.0833333333333333 * s * s + 0.25 * d * d;
      float w2 = 0.3 / (e * e);
      float f = (w0 * (2 * q0 - 7 * q1 + 11 * q2) + w1 * (5 * q2 - q1 + 2 * q3) + w2 * (2 * q2 + 5 * q3 - q4)) / (6 * (w0 + w1 + w2));
      if (face == 0) upper = f; else rate += v * (upper - f);
    }
  }
  return 0.33333333333333333 * get(u, 0, 0) + 0.66666666666666667 * (get(second, 0, 0) - 0.4 * rate);
}
