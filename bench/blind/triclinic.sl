# Waves in rock that is cracked every way, of any anisotropy: stresses at the points of a rotated staggered grid, where 21 elastic constants lie, and velocities in the middle of
# its cells; slopes along the cells' four diagonals, fourth order. Outside is vacuum, which makes z = 0 a free surface; the other sides swallow waves. Shots push up and down.
# Source: Saenger and Bohlen, "Finite-difference modeling of viscoelastic and anisotropic wave propagation using the rotated staggered grid" (2004); Saenger, Gold and Shapiro,
# "Modeling the propagation of elastic waves using a modified finite-difference grid" (2000); Cerjan, Kosloff, Kosloff and Reshef (1985) for the sides.
NumDimensions 3
StencilSize (2, 2, 2)
DataType float
Fields (vx, vy, vz, xx, yy, zz, yz, xz, xy)
ReadOnly (c11: float16, c12: float16, c13: float16, c14: float16, c15: float16, c16: float16, c22: float16,
          c23: float16, c24: float16, c25: float16, c26: float16, c33: float16, c34: float16, c35: float16,
          c36: float16, c44: float16, c45: float16, c46: float16, c55: float16, c56: float16, c66: float16,
          b: float16, sx[x], sy[y], sz[z])
Boundary constant 0
Boundary sx clamp
Boundary sy clamp
Boundary sz clamp
Stages (motion, stress)
DefaultSize (325, 301, 251)
Steps 2000
InputRange (-1, 1)
InputRange c11 (0.08, 0.12)
InputRange c12 (0.02, 0.035)
InputRange c13 (0.02, 0.035)
InputRange c14 (-0.004, 0.004)
InputRange c15 (-0.004, 0.004)
InputRange c16 (-0.004, 0.004)
InputRange c22 (0.08, 0.12)
InputRange c23 (0.02, 0.035)
InputRange c24 (-0.004, 0.004)
InputRange c25 (-0.004, 0.004)
InputRange c26 (-0.004, 0.004)
InputRange c33 (0.08, 0.12)
InputRange c34 (-0.004, 0.004)
InputRange c35 (-0.004, 0.004)
InputRange c36 (-0.004, 0.004)
InputRange c44 (0.03, 0.045)
InputRange c45 (-0.004, 0.004)
InputRange c46 (-0.004, 0.004)
InputRange c55 (0.03, 0.045)
InputRange c56 (-0.004, 0.004)
InputRange c66 (0.03, 0.045)
InputRange b (0.8, 1.2)
InputRange sx (0.95, 1)
InputRange sy (0.95, 1)
InputRange sz (0.95, 1)
InputRange shots (-0.5, 0.5)
# Along a diagonal, from its four values; the fourth part of the sum of all four diagonals is the slope along an axis.
float along(float w, float l, float r, float e) { return 9.0 / 32 * (r - l) - (e - w) / 96; }
CellValue motion (vx, vy, vz) {
  float xx0 = along(get(xx, -1, -1, -1), get(xx, 0, 0, 0), get(xx, 1, 1, 1), get(xx, 2, 2, 2)),
        xx1 = along(get(xx, -1, -1, 2), get(xx, 0, 0, 1), get(xx, 1, 1, 0), get(xx, 2, 2, -1)),
        xx2 = along(get(xx, -1, 2, -1), get(xx, 0, 1, 0), get(xx, 1, 0, 1), get(xx, 2, -1, 2)),
        xx3 = along(get(xx, -1, 2, 2), get(xx, 0, 1, 1), get(xx, 1, 0, 0), get(xx, 2, -1, -1));
  float yy0 = along(get(yy, -1, -1, -1), get(yy, 0, 0, 0), get(yy, 1, 1, 1), get(yy, 2, 2, 2)),
        yy1 = along(get(yy, -1, -1, 2), get(yy, 0, 0, 1), get(yy, 1, 1, 0), get(yy, 2, 2, -1)),
        yy2 = along(get(yy, -1, 2, -1), get(yy, 0, 1, 0), get(yy, 1, 0, 1), get(yy, 2, -1, 2)),
        yy3 = along(get(yy, -1, 2, 2), get(yy, 0, 1, 1), get(yy, 1, 0, 0), get(yy, 2, -1, -1));
  float zz0 = along(get(zz, -1, -1, -1), get(zz, 0, 0, 0), get(zz, 1, 1, 1), get(zz, 2, 2, 2)),
        zz1 = along(get(zz, -1, -1, 2), get(zz, 0, 0, 1), get(zz, 1, 1, 0), get(zz, 2, 2, -1)),
        zz2 = along(get(zz, -1, 2, -1), get(zz, 0, 1, 0), get(zz, 1, 0, 1), get(zz, 2, -1, 2)),
        zz3 = along(get(zz, -1, 2, 2), get(zz, 0, 1, 1), get(zz, 1, 0, 0), get(zz, 2, -1, -1));
  float yz0 = along(get(yz, -1, -1, -1), get(yz, 0, 0, 0), get(yz, 1, 1, 1), get(yz, 2, 2, 2)),
        yz1 = along(get(yz, -1, -1, 2), get(yz, 0, 0, 1), get(yz, 1, 1, 0), get(yz, 2, 2, -1)),
        yz2 = along(get(yz, -1, 2, -1), get(yz, 0, 1, 0), get(yz, 1, 0, 1), get(yz, 2, -1, 2)),
        yz3 = along(get(yz, -1, 2, 2), get(yz, 0, 1, 1), get(yz, 1, 0, 0), get(yz, 2, -1, -1));
  float xz0 = along(get(xz, -1, -1, -1), get(xz, 0, 0, 0), get(xz, 1, 1, 1), get(xz, 2, 2, 2)),
        xz1 = along(get(xz, -1, -1, 2), get(xz, 0, 0, 1), get(xz, 1, 1, 0), get(xz, 2, 2, -1)),
        xz2 = along(get(xz, -1, 2, -1), get(xz, 0, 1, 0), get(xz, 1, 0, 1), get(xz, 2, -1, 2)),
        xz3 = along(get(xz, -1, 2, 2), get(xz, 0, 1, 1), get(xz, 1, 0, 0), get(xz, 2, -1, -1));
  float xy0 = along(get(xy, -1, -1, -1), get(xy, 0, 0, 0), get(xy, 1, 1, 1), get(xy, 2, 2, 2)),
        xy1 = along(get(xy, -1, -1, 2), get(xy, 0, 0, 1), get(xy, 1, 1, 0), get(xy, 2, 2, -1)),
        xy2 = along(get(xy, -1, 2, -1), get(xy, 0, 1, 0), get(xy, 1, 0, 1), get(xy, 2, -1, 2)),
        xy3 = along(get(xy, -1, 2, 2), get(xy, 0, 1, 1), get(xy, 1, 0, 0), get(xy, 2, -1, -1));
  float light = get(b, 0, 0, 0), kept = get(sx, 0) * get(sy, 0) * get(sz, 0);
  return kept * (get(vx, 0, 0, 0) + light * ((xx0 + xx1 + xx2 + xx3) + (xy0 + xy1 - xy2 - xy3) + (xz0 - xz1 + xz2 - xz3))),
         kept * (get(vy, 0, 0, 0) + light * ((xy0 + xy1 + xy2 + xy3) + (yy0 + yy1 - yy2 - yy3) + (yz0 - yz1 + yz2 - yz3))),
         kept * (get(vz, 0, 0, 0) + light * ((xz0 + xz1 + xz2 + xz3) + (yz0 + yz1 - yz2 - yz3) + (zz0 - zz1 + zz2 - zz3)));
}
CellValue stress (xx, yy, zz, yz, xz, xy) {
  float vx0 = along(get(vx, -2, -2, -2), get(vx, -1, -1, -1), get(vx, 0, 0, 0), get(vx, 1, 1, 1)),
        vx1 = along(get(vx, -2, -2, 1), get(vx, -1, -1, 0), get(vx, 0, 0, -1), get(vx, 1, 1, -2)),
        vx2 = along(get(vx, -2, 1, -2), get(vx, -1, 0, -1), get(vx, 0, -1, 0), get(vx, 1, -2, 1)),
        vx3 = along(get(vx, -2, 1, 1), get(vx, -1, 0, 0), get(vx, 0, -1, -1), get(vx, 1, -2, -2));
  float vy0 = along(get(vy, -2, -2, -2), get(vy, -1, -1, -1), get(vy, 0, 0, 0), get(vy, 1, 1, 1)),
        vy1 = along(get(vy, -2, -2, 1), get(vy, -1, -1, 0), get(vy, 0, 0, -1), get(vy, 1, 1, -2)),
        vy2 = along(get(vy, -2, 1, -2), get(vy, -1, 0, -1), get(vy, 0, -1, 0), get(vy, 1, -2, 1)),
        vy3 = along(get(vy, -2, 1, 1), get(vy, -1, 0, 0), get(vy, 0, -1, -1), get(vy, 1, -2, -2));
  float vz0 = along(get(vz, -2, -2, -2), get(vz, -1, -1, -1), get(vz, 0, 0, 0), get(vz, 1, 1, 1)),
        vz1 = along(get(vz, -2, -2, 1), get(vz, -1, -1, 0), get(vz, 0, 0, -1), get(vz, 1, 1, -2)),
        vz2 = along(get(vz, -2, 1, -2), get(vz, -1, 0, -1), get(vz, 0, -1, 0), get(vz, 1, -2, 1)),
        vz3 = along(get(vz, -2, 1, 1), get(vz, -1, 0, 0), get(vz, 0, -1, -1), get(vz, 1, -2, -2));
  float e1 = vx0 + vx1 + vx2 + vx3, e2 = vy0 + vy1 - vy2 - vy3, e3 = vz0 - vz1 + vz2 - vz3;
  float e4 = vy0 - vy1 + vy2 - vy3 + (vz0 + vz1 - vz2 - vz3);
  float e5 = vx0 - vx1 + vx2 - vx3 + (vz0 + vz1 + vz2 + vz3);
  float e6 = vx0 + vx1 - vx2 - vx3 + (vy0 + vy1 + vy2 + vy3);
  float kept = get(sx, 0) * get(sy, 0) * get(sz, 0);
  return kept * (get(xx, 0, 0, 0) + get(c11, 0, 0, 0) * e1 + get(c12, 0, 0, 0) * e2 + get(c13, 0, 0, 0) * e3 + get(c14, 0, 0, 0) * e4 + get(c15, 0, 0, 0) * e5 + get(c16, 0, 0, 0) * e6),
         kept * (get(yy, 0, 0, 0) + get(c12, 0, 0, 0) * e1 + get(c22, 0, 0, 0) * e2 + get(c23, 0, 0, 0) * e3 + get(c24, 0, 0, 0) * e4 + get(c25, 0, 0, 0) * e5 + get(c26, 0, 0, 0) * e6),
         kept * (get(zz, 0, 0, 0) + get(c13, 0, 0, 0) * e1 + get(c23, 0, 0, 0) * e2 + get(c33, 0, 0, 0) * e3 + get(c34, 0, 0, 0) * e4 + get(c35, 0, 0, 0) * e5 + get(c36, 0, 0, 0) * e6),
         kept * (get(yz, 0, 0, 0) + get(c14, 0, 0, 0) * e1 + get(c24, 0, 0, 0) * e2 + get(c34, 0, 0, 0) * e3 + get(c44, 0, 0, 0) * e4 + get(c45, 0, 0, 0) * e5 + get(c46, 0, 0, 0) * e6),
         kept * (get(xz, 0, 0, 0) + get(c15, 0, 0, 0) * e1 + get(c25, 0, 0, 0) * e2 + get(c35, 0, 0, 0) * e3 + get(c45, 0, 0, 0) * e4 + get(c55, 0, 0, 0) * e5 + get(c56, 0, 0, 0) * e6),
         kept * (get(xy, 0, 0, 0) + get(c16, 0, 0, 0) * e1 + get(c26, 0, 0, 0) * e2 + get(c36, 0, 0, 0) * e3 + get(c46, 0, 0, 0) * e4 + get(c56, 0, 0, 0) * e5 + get(c66, 0, 0, 0) * e6);
}
Sources shots (vz) { return get(vz, 0, 0, 0) + get(b, 0, 0, 0) * value; }
Receivers traces { return get(vz, 0, 0, 0); }
