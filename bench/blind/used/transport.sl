# A magnetised gas in a box that repeats: density, three momenta and energy in the cells and the magnetic field on their lower faces, whose divergence never changes, for it
# follows from electric fields along the cells' edges. Those are means of the fluxes through the four faces there, of Rusanov with the fastest wave of either cell; one Euler step.
# Source: Balsara and Spicer, "A staggered mesh algorithm using high order Godunov fluxes to ensure solenoidal magnetic fields in magnetohydrodynamic simulations" (1999);
# Evans and Hawley, "Simulation of magnetohydrodynamic flows: a constrained transport method" (1988); Rusanov (1961) for the flux.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (r, mx, my, mz, e, bx, by, bz,
        rx, xx, yx, zx, ex, byx, bzx,
        ry, yy, zy, xy, ey, bzy, bxy,
        rz, zz, xz, yz, ez, bxz, byz)
Temporary (rx, xx, yx, zx, ex, byx, bzx, ry, yy, zy, xy, ey, bzy, bxy, rz, zz, xz, yz, ez, bxz, byz)
Boundary wrap
Stages (fluxes, balance)
DefaultSize (240, 200, 180)
Steps 1500
InputRange r (0.9, 1.1)
InputRange mx (-0.2, 0.2)
InputRange my (-0.2, 0.2)
InputRange mz (-0.2, 0.2)
InputRange e (1.8, 2.2)
InputRange bx (-0.3, 0.3)
InputRange by (-0.3, 0.3)
InputRange bz (-0.3, 0.3)
const double heat = 5.0 / 3;
double squeezed(double d, double px, double py, double pz, double en, double cx, double cy, double cz) {
  return fmax((heat - 1) * (en - 0.5 * (px * px + py * py + pz * pz) / d - 0.5 * (cx * cx + cy * cy + cz * cz)), 0.000001);
}
# The speed of fast waves along an axis, of whose field c is the component.
double fast(double d, double p, double bb, double c) {
  double a = heat * p / d, b = bb / d;
  return sqrt(0.5 * (a + b + sqrt(fmax((a + b) * (a + b) - 4 * a * c * c / d, 0))));
}
double middle(double low, double high) { return 0.5 * (low + high); }
StepScalar max fastest {
  double d = get(r, 0, 0, 0);
  double cx = middle(get(bx, 0, 0, 0), get(bx, 1, 0, 0)), cy = middle(get(by, 0, 0, 0), get(by, 0, 1, 0)), cz = middle(get(bz, 0, 0, 0), get(bz, 0, 0, 1));
  double p = squeezed(d, get(mx, 0, 0, 0), get(my, 0, 0, 0), get(mz, 0, 0, 0), get(e, 0, 0, 0), cx, cy, cz);
  double bb = cx * cx + cy * cy + cz * cz;
  return (fabs(get(mx, 0, 0, 0)) + fabs(get(my, 0, 0, 0)) + fabs(get(mz, 0, 0, 0))) / d + fast(d, p, bb, cx) + fast(d, p, bb, cy) + fast(d, p, bb, cz);
}
StepScalar ratio { return 0.6 / fastest; }    # of the time step to the mesh width
CellValue fluxes (rx, xx, yx, zx, ex, byx, bzx, ry, yy, zy, xy, ey, bzy, bxy, rz, zz, xz, yz, ez, bxz, byz) {
  double dxl = get(r, -1, 0, 0), nxl = get(mx, -1, 0, 0), sxl = get(my, -1, 0, 0), txl = get(mz, -1, 0, 0), exl = get(e, -1, 0, 0);
  double bnxl = middle(get(bx, -1, 0, 0), get(bx, 0, 0, 0));
  double bsxl = middle(get(by, -1, 0, 0), get(by, -1, 1, 0)), btxl = middle(get(bz, -1, 0, 0), get(bz, -1, 0, 1));
  double pxl = squeezed(dxl, nxl, sxl, txl, exl, bnxl, bsxl, btxl);
  double bbxl = bnxl * bnxl + bsxl * bsxl + btxl * btxl, uxl = nxl / dxl;
  double dxh = get(r, 0, 0, 0), nxh = get(mx, 0, 0, 0), sxh = get(my, 0, 0, 0), txh = get(mz, 0, 0, 0), exh = get(e, 0, 0, 0);
  double bnxh = middle(get(bx, 0, 0, 0), get(bx, 1, 0, 0));
  double bsxh = middle(get(by, 0, 0, 0), get(by, 0, 1, 0)), btxh = middle(get(bz, 0, 0, 0), get(bz, 0, 0, 1));
  double pxh = squeezed(dxh, nxh, sxh, txh, exh, bnxh, bsxh, btxh);
  double bbxh = bnxh * bnxh + bsxh * bsxh + btxh * btxh, uxh = nxh / dxh;
  double cx = 0.5 * fmax(fabs(uxl) + fast(dxl, pxl, bbxl, bnxl), fabs(uxh) + fast(dxh, pxh, bbxh, bnxh));
  double facex = get(bx, 0, 0, 0);
  double dyl = get(r, 0, -1, 0), nyl = get(my, 0, -1, 0), syl = get(mz, 0, -1, 0), tyl = get(mx, 0, -1, 0), eyl = get(e, 0, -1, 0);
  double bnyl = middle(get(by, 0, -1, 0), get(by, 0, 0, 0));
  double bsyl = middle(get(bz, 0, -1, 0), get(bz, 0, -1, 1)), btyl = middle(get(bx, 0, -1, 0), get(bx, 1, -1, 0));
  double pyl = squeezed(dyl, nyl, syl, tyl, eyl, bnyl, bsyl, btyl);
  double bbyl = bnyl * bnyl + bsyl * bsyl + btyl * btyl, uyl = nyl / dyl;
  double dyh = get(r, 0, 0, 0), nyh = get(my, 0, 0, 0), syh = get(mz, 0, 0, 0), tyh = get(mx, 0, 0, 0), eyh = get(e, 0, 0, 0);
  double bnyh = middle(get(by, 0, 0, 0), get(by, 0, 1, 0));
  double bsyh = middle(get(bz, 0, 0, 0), get(bz, 0, 0, 1)), btyh = middle(get(bx, 0, 0, 0), get(bx, 1, 0, 0));
  double pyh = squeezed(dyh, nyh, syh, tyh, eyh, bnyh, bsyh, btyh);
  double bbyh = bnyh * bnyh + bsyh * bsyh + btyh * btyh, uyh = nyh / dyh;
  double cy = 0.5 * fmax(fabs(uyl) + fast(dyl, pyl, bbyl, bnyl), fabs(uyh) + fast(dyh, pyh, bbyh, bnyh));
  double facey = get(by, 0, 0, 0);
  double dzl = get(r, 0, 0, -1), nzl = get(mz, 0, 0, -1), szl = get(mx, 0, 0, -1), tzl = get(my, 0, 0, -1), ezl = get(e, 0, 0, -1);
  double bnzl = middle(get(bz, 0, 0, -1), get(bz, 0, 0, 0));
  double bszl = middle(get(bx, 0, 0, -1), get(bx, 1, 0, -1)), btzl = middle(get(by, 0, 0, -1), get(by, 0, 1, -1));
  double pzl = squeezed(dzl, nzl, szl, tzl, ezl, bnzl, bszl, btzl);
  double bbzl = bnzl * bnzl + bszl * bszl + btzl * btzl, uzl = nzl / dzl;
  double dzh = get(r, 0, 0, 0), nzh = get(mz, 0, 0, 0), szh = get(mx, 0, 0, 0), tzh = get(my, 0, 0, 0), ezh = get(e, 0, 0, 0);
  double bnzh = middle(get(bz, 0, 0, 0), get(bz, 0, 0, 1));
  double bszh = middle(get(bx, 0, 0, 0), get(bx, 1, 0, 0)), btzh = middle(get(by, 0, 0, 0), get(by, 0, 1, 0));
  double pzh = squeezed(dzh, nzh, szh, tzh, ezh, bnzh, bszh, btzh);
  double bbzh = bnzh * bnzh + bszh * bszh + btzh * btzh, uzh = nzh / dzh;
  double cz = 0.5 * fmax(fabs(uzl) + fast(dzl, pzl, bbzl, bnzl), fabs(uzh) + fast(dzh, pzh, bbzh, bnzh));
  double facez = get(bz, 0, 0, 0);
  return 0.5 * (nxl + nxh) - cx * (dxh - dxl),
         0.5 * ((nxl * uxl + pxl + 0.5 * bbxl - bnxl * bnxl) + (nxh * uxh + pxh + 0.5 * bbxh - bnxh * bnxh)) - cx * (nxh - nxl),
         0.5 * ((sxl * uxl - facex * bsxl) + (sxh * uxh - facex * bsxh)) - cx * (sxh - sxl),
         0.5 * ((txl * uxl - facex * btxl) + (txh * uxh - facex * btxh)) - cx * (txh - txl),
         0.5 * (((exl + pxl + 0.5 * bbxl) * uxl - facex * (uxl * bnxl + (sxl * bsxl + txl * btxl) / dxl)) + ((exh + pxh + 0.5 * bbxh) * uxh - facex * (uxh * bnxh + (sxh * bsxh + txh * btxh) / dxh))) - cx * (exh - exl),
         0.5 * ((uxl * bsxl - sxl / dxl * facex) + (uxh * bsxh - sxh / dxh * facex)) - cx * (bsxh - bsxl),
         0.5 * ((uxl * btxl - txl / dxl * facex) + (uxh * btxh - txh / dxh * facex)) - cx * (btxh - btxl),
         0.5 * (nyl + nyh) - cy * (dyh - dyl),
         0.5 * ((nyl * uyl + pyl + 0.5 * bbyl - bnyl * bnyl) + (nyh * uyh + pyh + 0.5 * bbyh - bnyh * bnyh)) - cy * (nyh - nyl),
         0.5 * ((syl * uyl - facey * bsyl) + (syh * uyh - facey * bsyh)) - cy * (syh - syl),
         0.5 * ((tyl * uyl - facey * btyl) + (tyh * uyh - facey * btyh)) - cy * (tyh - tyl),
         0.5 * (((eyl + pyl + 0.5 * bbyl) * uyl - facey * (uyl * bnyl + (syl * bsyl + tyl * btyl) / dyl)) + ((eyh + pyh + 0.5 * bbyh) * uyh - facey * (uyh * bnyh + (syh * bsyh + tyh * btyh) / dyh))) - cy * (eyh - eyl),
         0.5 * ((uyl * bsyl - syl / dyl * facey) + (uyh * bsyh - syh / dyh * facey)) - cy * (bsyh - bsyl),
         0.5 * ((uyl * btyl - tyl / dyl * facey) + (uyh * btyh - tyh / dyh * facey)) - cy * (btyh - btyl),
         0.5 * (nzl + nzh) - cz * (dzh - dzl),
         0.5 * ((nzl * uzl + pzl + 0.5 * bbzl - bnzl * bnzl) + (nzh * uzh + pzh + 0.5 * bbzh - bnzh * bnzh)) - cz * (nzh - nzl),
         0.5 * ((szl * uzl - facez * bszl) + (szh * uzh - facez * bszh)) - cz * (szh - szl),
         0.5 * ((tzl * uzl - facez * btzl) + (tzh * uzh - facez * btzh)) - cz * (tzh - tzl),
         0.5 * (((ezl + pzl + 0.5 * bbzl) * uzl - facez * (uzl * bnzl + (szl * bszl + tzl * btzl) / dzl)) + ((ezh + pzh + 0.5 * bbzh) * uzh - facez * (uzh * bnzh + (szh * bszh + tzh * btzh) / dzh))) - cz * (ezh - ezl),
         0.5 * ((uzl * bszl - szl / dzl * facez) + (uzh * bszh - szh / dzh * facez)) - cz * (bszh - bszl),
         0.5 * ((uzl * btzl - tzl / dzl * facez) + (uzh * btzh - tzh / dzh * facez)) - cz * (btzh - btzl);
}
# Electric fields along the edges where the lower faces of cells meet.
double edgex(int j, int k) { return 0.25 * (get(byz, 0, j, k) + get(byz, 0, j - 1, k) - get(bzy, 0, j, k) - get(bzy, 0, j, k - 1)); }
double edgey(int i, int k) { return 0.25 * (get(bzx, i, 0, k) + get(bzx, i, 0, k - 1) - get(bxz, i, 0, k) - get(bxz, i - 1, 0, k)); }
double edgez(int i, int j) { return 0.25 * (get(bxy, i, j, 0) + get(bxy, i - 1, j, 0) - get(byx, i, j, 0) - get(byx, i, j - 1, 0)); }
CellValue balance (r, mx, my, mz, e, bx, by, bz) {
  return get(r, 0, 0, 0) - ratio * (get(rx, 1, 0, 0) - get(rx, 0, 0, 0) + get(ry, 0, 1, 0) - get(ry, 0, 0, 0) + get(rz, 0, 0, 1) - get(rz, 0, 0, 0)),
         get(mx, 0, 0, 0) - ratio * (get(xx, 1, 0, 0) - get(xx, 0, 0, 0) + get(xy, 0, 1, 0) - get(xy, 0, 0, 0) + get(xz, 0, 0, 1) - get(xz, 0, 0, 0)),
         get(my, 0, 0, 0) - ratio * (get(yx, 1, 0, 0) - get(yx, 0, 0, 0) + get(yy, 0, 1, 0) - get(yy, 0, 0, 0) + get(yz, 0, 0, 1) - get(yz, 0, 0, 0)),
         get(mz, 0, 0, 0) - ratio * (get(zx, 1, 0, 0) - get(zx, 0, 0, 0) + get(zy, 0, 1, 0) - get(zy, 0, 0, 0) + get(zz, 0, 0, 1) - get(zz, 0, 0, 0)),
         get(e, 0, 0, 0) - ratio * (get(ex, 1, 0, 0) - get(ex, 0, 0, 0) + get(ey, 0, 1, 0) - get(ey, 0, 0, 0) + get(ez, 0, 0, 1) - get(ez, 0, 0, 0)),
         get(bx, 0, 0, 0) - ratio * (edgez(0, 1) - edgez(0, 0) - edgey(0, 1) + edgey(0, 0)),
         get(by, 0, 0, 0) - ratio * (edgex(0, 1) - edgex(0, 0) - edgez(1, 0) + edgez(0, 0)),
         get(bz, 0, 0, 0) - ratio * (edgey(1, 0) - edgey(0, 0) - edgex(1, 0) + edgex(0, 0));
}
