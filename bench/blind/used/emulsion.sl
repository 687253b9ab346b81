# Oil in water in a channel, which part into drops: nine populations of either fluid (f and g), their densities, and the force by which each repels the other, of the
# neighbours' densities. Walls below and above throw populations back, and oil would rather touch them; a weight drives both along x, where the channel repeats.
# Source: Shan and Chen, "Lattice Boltzmann model for simulating flows with multiple phases and components" (1993); Shan and Doolen, "Multicomponent lattice-Boltzmann
# model with interparticle interaction" (1995), the common velocity; Martys and Chen, "Simulation of multicomponent fluids in complex geometries" (1996), the walls.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (f0, f1, f2, f3, f4, f5, f6, f7, f8, g0, g1, g2, g3, g4, g5, g6, g7, g8, rf, rg)
Temporary (rf, rg)
ScalarVariables (float repels = 2.6, float weight = 0.00001)
Boundary (wrap, clamp)
Boundary rf (wrap, constant 0.7)
Boundary rg (wrap, constant 0.3)
Stages (streaming, collision)
DefaultSize (3000, 1001)
Steps 20000
InputRange f0 (0.2, 0.24)
InputRange f1 (0.05, 0.06)
InputRange f2 (0.05, 0.06)
InputRange f3 (0.05, 0.06)
InputRange f4 (0.05, 0.06)
InputRange f5 (0.0125, 0.015)
InputRange f6 (0.0125, 0.015)
InputRange f7 (0.0125, 0.015)
InputRange f8 (0.0125, 0.015)
InputRange g0 (0.2, 0.24)
InputRange g1 (0.05, 0.06)
InputRange g2 (0.05, 0.06)
InputRange g3 (0.05, 0.06)
InputRange g4 (0.05, 0.06)
InputRange g5 (0.0125, 0.015)
InputRange g6 (0.0125, 0.015)
InputRange g7 (0.0125, 0.015)
InputRange g8 (0.0125, 0.015)
const float tf = 1;        # times of relaxation
const float tg = 0.8;
CellValue streaming (f0, f1, f2, f3, f4, f5, f6, f7, f8, g0, g1, g2, g3, g4, g5, g6, g7, g8, rf, rg) {
  int low = y == 0, high = y == input_size.y - 1;
  float ff0 = get(f0, 0, 0), ff1 = get(f1, -1, 0), ff2 = low ? get(f4, 0, 0) : get(f2, 0, -1), ff3 = get(f3, 1, 0), ff4 = high ? get(f2, 0, 0) : get(f4, 0, 1),
        ff5 = low ? get(f7, 0, 0) : get(f5, -1, -1), ff6 = low ? get(f8, 0, 0) : get(f6, 1, -1), ff7 = high ? get(f5, 0, 0) : get(f7, 1, 1), ff8 = high ? get(f6, 0, 0) : get(f8, -1, 1);
  float gg0 = get(g0, 0, 0), gg1 = get(g1, -1, 0), gg2 = low ? get(g4, 0, 0) : get(g2, 0, -1), gg3 = get(g3, 1, 0), gg4 = high ? get(g2, 0, 0) : get(g4, 0, 1),
        gg5 = low ? get(g7, 0, 0) : get(g5, -1, -1), gg6 = low ? get(g8, 0, 0) : get(g6, 1, -1), gg7 = high ? get(g5, 0, 0) : get(g7, 1, 1), gg8 = high ? get(g6, 0, 0) : get(g8, -1, 1);
  return ff0, ff1, ff2, ff3, ff4, ff5, ff6, ff7, ff8, gg0, gg1, gg2, gg3, gg4, gg5, gg6, gg7, gg8,
         ff0 + ff1 + ff2 + ff3 + ff4 + ff5 + ff6 + ff7 + ff8, gg0 + gg1 + gg2 + gg3 + gg4 + gg5 + gg6 + gg7 + gg8;
}
float relaxed(float own, float weigh, float rho, float eu, float uu, float tau) {
  return own - (own - weigh * rho * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * uu)) / tau;
}
CellValue collision (f0, f1, f2, f3, f4, f5, f6, f7, f8, g0, g1, g2, g3, g4, g5, g6, g7, g8) {
  float a = get(rf, 0, 0), b = get(rg, 0, 0);
  float mfx = get(f1, 0, 0) - get(f3, 0, 0) + get(f5, 0, 0) - get(f6, 0, 0) - get(f7, 0, 0) + get(f8, 0, 0);
  float mfy = get(f2, 0, 0) - get(f4, 0, 0) + get(f5, 0, 0) + get(f6, 0, 0) - get(f7, 0, 0) - get(f8, 0, 0);
  float mgx = get(g1, 0, 0) - get(g3, 0, 0) + get(g5, 0, 0) - get(g6, 0, 0) - get(g7, 0, 0) + get(g8, 0, 0);
  float mgy = get(g2, 0, 0) - get(g4, 0, 0) + get(g5, 0, 0) + get(g6, 0, 0) - get(g7, 0, 0) - get(g8, 0, 0);
  float srfx = (get(rf, 1, 0) - get(rf, -1, 0)) / 9 + (get(rf, 1, 1) - get(rf, -1, 1) + get(rf, 1, -1) - get(rf, -1, -1)) / 36;
  float srfy = (get(rf, 0, 1) - get(rf, 0, -1)) / 9 + (get(rf, 1, 1) - get(rf, 1, -1) + get(rf, -1, 1) - get(rf, -1, -1)) / 36;
  float srgx = (get(rg, 1, 0) - get(rg, -1, 0)) / 9 + (get(rg, 1, 1) - get(rg, -1, 1) + get(rg, 1, -1) - get(rg, -1, -1)) / 36;
  float srgy = (get(rg, 0, 1) - get(rg, 0, -1)) / 9 + (get(rg, 1, 1) - get(rg, 1, -1) + get(rg, -1, 1) - get(rg, -1, -1)) / 36;
  float both = a / tf + b / tg;
  float cx = (mfx / tf + mgx / tg) / both, cy = (mfy / tf + mgy / tg) / both;
  float fx = cx + tf * (weight - repels * srgx), fy = cy - tf * repels * srgy;
  float gx = cx + tg * (weight - repels * srfx), gy = cy - tg * repels * srfy;
  float fu = fx * fx + fy * fy, gu = gx * gx + gy * gy;
  return relaxed(get(f0, 0, 0), 4.0 / 9, a, 0, fu, tf), relaxed(get(f1, 0, 0), 1.0 / 9, a, fx, fu, tf), relaxed(get(f2, 0, 0), 1.0 / 9, a, fy, fu, tf),
         relaxed(get(f3, 0, 0), 1.0 / 9, a, -fx, fu, tf), relaxed(get(f4, 0, 0), 1.0 / 9, a, -fy, fu, tf), relaxed(get(f5, 0, 0), 1.0 / 36, a, fx + fy, fu, tf),
         relaxed(get(f6, 0, 0), 1.0 / 36, a, -fx + fy, fu, tf), relaxed(get(f7, 0, 0), 1.0 / 36, a, -fx - fy, fu, tf), relaxed(get(f8, 0, 0), 1.0 / 36, a, fx - fy, fu, tf),
         relaxed(get(g0, 0, 0), 4.0 / 9, b, 0, gu, tg), relaxed(get(g1, 0, 0), 1.0 / 9, b, gx, gu, tg), relaxed(get(g2, 0, 0), 1.0 / 9, b, gy, gu, tg),
         relaxed(get(g3, 0, 0), 1.0 / 9, b, -gx, gu, tg), relaxed(get(g4, 0, 0), 1.0 / 9, b, -gy, gu, tg), relaxed(get(g5, 0, 0), 1.0 / 36, b, gx + gy, gu, tg),
         relaxed(get(g6, 0, 0), 1.0 / 36, b, -gx + gy, gu, tg), relaxed(get(g7, 0, 0), 1.0 / 36, b, -gx - gy, gu, tg), relaxed(get(g8, 0, 0), 1.0 / 36, b, gx - gy, gu, tg);
}
