# A liquid crystal that orders itself: five components of its order tensor relax to the least energy of Landau and de Gennes. Walls hold the order below and above; it repeats to the sides.
# Source: Ravnik and Zumer, "Landau-de Gennes modelling of nematic liquid crystal colloids" (2009), sections 2 and 3, equations 2 and 6, one elastic constant.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (q1, q2, q3, q4, q5)
Boundary z fixed
Boundary x wrap
Boundary y wrap
DefaultSize (320, 320, 256)
Steps 1000
InputRange (-0.4, 0.4)
const float a = -0.172;
const float b = -2.12;
const float c = 1.73;
const float l = 0.9;
const float dt = 0.05;
float spread(float here, float around) { return l * (around - 6 * here); }
CellValue {
  float xx = get(q1, 0, 0, 0), xy = get(q2, 0, 0, 0), xz = get(q3, 0, 0, 0), yy = get(q4, 0, 0, 0), yz = get(q5, 0, 0, 0);
  float zz = -xx - yy;
  float trace = xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz);
  float k = a + c * trace;
  float third = trace / 3;
  float d1 = spread(xx, get(q1, 1, 0, 0) + get(q1, -1, 0, 0) + get(q1, 0, 1, 0) + get(q1, 0, -1, 0) + get(q1, 0, 0, 1) + get(q1, 0, 0, -1));
  float d2 = spread(xy, get(q2, 1, 0, 0) + get(q2, -1, 0, 0) + get(q2, 0, 1, 0) + get(q2, 0, -1, 0) + get(q2, 0, 0, 1) + get(q2, 0, 0, -1));
  float d3 = spread(xz, get(q3, 1, 0, 0) + get(q3, -1, 0, 0) + get(q3, 0, 1, 0) + get(q3, 0, -1, 0) + get(q3, 0, 0, 1) + get(q3, 0, 0, -1));
  float d4 = spread(yy, get(q4, 1, 0, 0) + get(q4, -1, 0, 0) + get(q4, 0, 1, 0) + get(q4, 0, -1, 0) + get(q4, 0, 0, 1) + get(q4, 0, 0, -1));
  float d5 = spread(yz, get(q5, 1, 0, 0) + get(q5, -1, 0, 0) + get(q5, 0, 1, 0) + get(q5, 0, -1, 0) + get(q5, 0, 0, 1) + get(q5, 0, 0, -1));
  return xx + dt * (d1 - k * xx - b * (xx * xx + xy * xy + xz * xz - third)),
    xy + dt * (d2 - k * xy - b * (xx * xy + xy * yy + xz * yz)),
    xz + dt * (d3 - k * xz - b * (xx * xz + xy * yz + xz * zz)),
    yy + dt * (d4 - k * yy - b * (xy * xy + yy * yy + yz * yz - third)),
    yz + dt * (d5 - k * yz - b * (xy * xz + yy * yz + yz * zz));
}
