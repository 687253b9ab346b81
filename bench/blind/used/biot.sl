# Waves in sandstone full of water: velocities of the rock, the water's flow against it, six stresses and the pores' pressure, staggered, fourth order in space; x and y repeat, z has a sponge.
# Source: Masson, Pride and Nihei, "Finite difference modeling of Biot's poroelastic equations at seismic frequencies" (2006), equations 1 to 4; Zeng, He and Liu (2001).
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (vx, vy, vz, qx, qy, qz, xx, yy, zz, xy, xz, yz, p)
ReadOnly (lame, mu, storage, drag: float16, sponge[z])
Boundary (wrap, wrap, constant 0)
Stages (motion, stress)
DefaultSize (301, 281, 203)
Steps 1200
InputRange lame (0.05, 0.08)
InputRange mu (0.03, 0.05)
InputRange storage (0.02, 0.03)
InputRange drag (0.1, 0.3)
InputRange sponge (0.95, 1)
const float alpha = 0.85;
const float density = 1;
const float fluid = 0.45;
const float inertia = 2.4;      # tortuosity times the fluid's density over the porosity
float diff(float w, float l, float r, float e) { return 1.125 * (r - l) - (e - w) / 24; }
CellValue motion (vx, vy, vz, qx, qy, qz) {
  float fx = diff(get(xx, -1, 0, 0), get(xx, 0, 0, 0), get(xx, 1, 0, 0), get(xx, 2, 0, 0)) + diff(get(xy, 0, -2, 0), get(xy, 0, -1, 0), get(xy, 0, 0, 0), get(xy, 0, 1, 0)) + diff(get(xz, 0, 0, -2), get(xz, 0, 0, -1), get(xz, 0, 0, 0), get(xz, 0, 0, 1));
  float fy = diff(get(xy, -2, 0, 0), get(xy, -1, 0, 0), get(xy, 0, 0, 0), get(xy, 1, 0, 0)) + diff(get(yy, 0, -1, 0), get(yy, 0, 0, 0), get(yy, 0, 1, 0), get(yy, 0, 2, 0)) + diff(get(yz, 0, 0, -2), get(yz, 0, 0, -1), get(yz, 0, 0, 0), get(yz, 0, 0, 1));
  float fz = diff(get(xz, -2, 0, 0), get(xz, -1, 0, 0), get(xz, 0, 0, 0), get(xz, 1, 0, 0)) + diff(get(yz, 0, -2, 0), get(yz, 0, -1, 0), get(yz, 0, 0, 0), get(yz, 0, 1, 0)) + diff(get(zz, 0, 0, -1), get(zz, 0, 0, 0), get(zz, 0, 0, 1), get(zz, 0, 0, 2));
  float px = diff(get(p, -1, 0, 0), get(p, 0, 0, 0), get(p, 1, 0, 0), get(p, 2, 0, 0));
  float py = diff(get(p, 0, -1, 0), get(p, 0, 0, 0), get(p, 0, 1, 0), get(p, 0, 2, 0));
  float pz = diff(get(p, 0, 0, -1), get(p, 0, 0, 0), get(p, 0, 0, 1), get(p, 0, 0, 2));
  float m = inertia - fluid * fluid / density, b = 0.5 * get(drag, 0, 0, 0), s = get(sponge, 0);
  float ox = get(qx, 0, 0, 0), oy = get(qy, 0, 0, 0), oz = get(qz, 0, 0, 0);
  float nx = ((m - b) * ox - px - fluid / density * fx) / (m + b), ny = ((m - b) * oy - py - fluid / density * fy) / (m + b), nz = ((m - b) * oz - pz - fluid / density * fz) / (m + b);
  return s * (get(vx, 0, 0, 0) + (fx - fluid * (nx - ox)) / density), s * (get(vy, 0, 0, 0) + (fy - fluid * (ny - oy)) / density), s * (get(vz, 0, 0, 0) + (fz - fluid * (nz - oz)) / density), s * nx, s * ny, s * nz;
}
CellValue stress (xx, yy, zz, xy, xz, yz, p) {
  float ex = diff(get(vx, -2, 0, 0), get(vx, -1, 0, 0), get(vx, 0, 0, 0), get(vx, 1, 0, 0)), ey = diff(get(vy, 0, -2, 0), get(vy, 0, -1, 0), get(vy, 0, 0, 0), get(vy, 0, 1, 0)), ez = diff(get(vz, 0, 0, -2), get(vz, 0, 0, -1), get(vz, 0, 0, 0), get(vz, 0, 0, 1));
  float flow = diff(get(qx, -2, 0, 0), get(qx, -1, 0, 0), get(qx, 0, 0, 0), get(qx, 1, 0, 0)) + diff(get(qy, 0, -2, 0), get(qy, 0, -1, 0), get(qy, 0, 0, 0), get(qy, 0, 1, 0)) + diff(get(qz, 0, 0, -2), get(qz, 0, 0, -1), get(qz, 0, 0, 0), get(qz, 0, 0, 1));
  float exy = diff(get(vx, 0, -1, 0), get(vx, 0, 0, 0), get(vx, 0, 1, 0), get(vx, 0, 2, 0)) + diff(get(vy, -1, 0, 0), get(vy, 0, 0, 0), get(vy, 1, 0, 0), get(vy, 2, 0, 0));
  float exz = diff(get(vx, 0, 0, -1), get(vx, 0, 0, 0), get(vx, 0, 0, 1), get(vx, 0, 0, 2)) + diff(get(vz, -1, 0, 0), get(vz, 0, 0, 0), get(vz, 1, 0, 0), get(vz, 2, 0, 0));
  float eyz = diff(get(vy, 0, 0, -1), get(vy, 0, 0, 0), get(vy, 0, 0, 1), get(vy, 0, 0, 2)) + diff(get(vz, 0, -1, 0), get(vz, 0, 0, 0), get(vz, 0, 1, 0), get(vz, 0, 2, 0));
  float tr = ex + ey + ez, m = get(mu, 0, 0, 0), s = get(sponge, 0), st = get(storage, 0, 0, 0);
  float all = (get(lame, 0, 0, 0) + alpha * alpha * st) * tr + alpha * st * flow;
  return s * (get(xx, 0, 0, 0) + all + 2 * m * ex), s * (get(yy, 0, 0, 0) + all + 2 * m * ey), s * (get(zz, 0, 0, 0) + all + 2 * m * ez),
         s * (get(xy, 0, 0, 0) + m * exy), s * (get(xz, 0, 0, 0) + m * exz), s * (get(yz, 0, 0, 0) + m * eyz), s * (get(p, 0, 0, 0) - st * (alpha * tr + flow));
}
