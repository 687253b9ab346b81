# A block of glass that is pulled apart along z until it cracks: displacements, velocities, damage d (1 is broken) and the largest energy h that has stretched a cell. Only what stretches breaks; sides are free.
# Source: Miehe, Hofacker and Welschinger, "A phase field model for rate-independent crack propagation" (2010), section 3, with the split of Amor, Marigo and Maurini (2009), in explicit dynamics after Borden et al. (2012).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (ux, uy, uz, vx, vy, vz, d, h, xx, yy, zz, xy, xz, yz)
Temporary (xx, yy, zz, xy, xz, yz)
ScalarVariables (double dt = 0.2, double pull = 0.05)
EdgeValue uz z low { return value - pull; }
EdgeValue uz z high { return value + pull; }
Boundary xx x constant 0
Boundary xy (constant 0, constant 0, clamp)
Boundary xz x constant 0
Boundary yy y constant 0
Boundary yz y constant 0
Stages (stress, motion, damage)
DefaultSize (201, 101, 251)
Steps 4000
InputRange ux (-0.01, 0.01)
InputRange uy (-0.01, 0.01)
InputRange uz (-0.01, 0.01)
InputRange vx (-0.001, 0.001)
InputRange vy (-0.001, 0.001)
InputRange vz (-0.001, 0.001)
InputRange d (0, 0.1)
InputRange h (0, 0.0002)
const double bulk = 0.8;      # lengths in cells, 1 is Young's modulus and density
const double shear = 0.4;
const double gc = 0.001;
const double width = 2.5;
const double mobility = 20;
CellValue stress (xx, yy, zz, xy, xz, yz, h) {
  double ex = 0.5 * (get(ux, 1, 0, 0) - get(ux, -1, 0, 0)), ey = 0.5 * (get(uy, 0, 1, 0) - get(uy, 0, -1, 0)), ez = 0.5 * (get(uz, 0, 0, 1) - get(uz, 0, 0, -1));
  double exy = 0.25 * (get(ux, 0, 1, 0) - get(ux, 0, -1, 0) + get(uy, 1, 0, 0) - get(uy, -1, 0, 0));
  double exz = 0.25 * (get(ux, 0, 0, 1) - get(ux, 0, 0, -1) + get(uz, 1, 0, 0) - get(uz, -1, 0, 0));
  double eyz = 0.25 * (get(uy, 0, 0, 1) - get(uy, 0, 0, -1) + get(uz, 0, 1, 0) - get(uz, 0, -1, 0));
  double tr = ex + ey + ez, opened = max(tr, 0), closed = min(tr, 0);
  double whole = 1 - get(d, 0, 0, 0), g = whole * whole + 1e-6;
  double ax = ex - tr / 3, ay = ey - tr / 3, az = ez - tr / 3;
  double energy = 0.5 * bulk * opened * opened + shear * (ax * ax + ay * ay + az * az + 2 * (exy * exy + exz * exz + eyz * eyz));
  double p = bulk * (g * opened + closed), s = 2 * shear * g;
  return p + s * ax, p + s * ay, p + s * az, s * exy, s * exz, s * eyz, max(get(h, 0, 0, 0), energy);
}
CellValue motion (ux, uy, uz, vx, vy, vz) {
  double fx = 0.5 * (get(xx, 1, 0, 0) - get(xx, -1, 0, 0) + get(xy, 0, 1, 0) - get(xy, 0, -1, 0) + get(xz, 0, 0, 1) - get(xz, 0, 0, -1));
  double fy = 0.5 * (get(xy, 1, 0, 0) - get(xy, -1, 0, 0) + get(yy, 0, 1, 0) - get(yy, 0, -1, 0) + get(yz, 0, 0, 1) - get(yz, 0, 0, -1));
  double fz = 0.5 * (get(xz, 1, 0, 0) - get(xz, -1, 0, 0) + get(yz, 0, 1, 0) - get(yz, 0, -1, 0) + get(zz, 0, 0, 1) - get(zz, 0, 0, -1));
  double nx = get(vx, 0, 0, 0) + dt * fx, ny = get(vy, 0, 0, 0) + dt * fy, nz = get(vz, 0, 0, 0) + dt * fz;
  return get(ux, 0, 0, 0) + dt * nx, get(uy, 0, 0, 0) + dt * ny, get(uz, 0, 0, 0) + dt * nz, nx, ny, nz;
}
CellValue damage (d) {
  double c = get(d, 0, 0, 0);
  double lap = get(d, -1, 0, 0) + get(d, 1, 0, 0) + get(d, 0, -1, 0) + get(d, 0, 1, 0) + get(d, 0, 0, -1) + get(d, 0, 0, 1) - 6 * c;
  double rate = 2 * (1 - c) * get(h, 0, 0, 0) + gc * (width * lap - c / width);
  return min(c + dt * mobility * max(rate, 0), 1);
}
