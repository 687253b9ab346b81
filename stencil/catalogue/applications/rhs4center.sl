# Earthquakes: the acceleration of an elastic solid of varying stiffness, fourth order,
# away from the surface: la and mu are Lame's parameters, (u, v, w) is the displacement.
# The accelerations keep a1 of what they were: 0 here, for an operator; one step is a run.
# The stretching of the mesh near its ends is 1: the language has no arrays of one axis
# beside others.
# Source: benchmark rhs4center of Rawat et al., "Domain-specific optimization and
# generation of high-performance GPU code for stencil computations" (2018), from SW4;
# the scheme is of Sjogreen and Petersson, "A fourth order accurate finite difference
# scheme for the elastic wave equation in second order formulation" (2012).
NumDimensions 3
StencilSize (2, 2, 2)
DataType double
ScalarVariables (double a1 = 0, double cof = 0.1)
Fields (ax, ay, az)
ReadOnly (u, v, w, mu, la)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1
InputRange (0.5, 1.5)
CellValue {
  float u0 = get(u, 0, 0, 0), v0 = get(v, 0, 0, 0), w0 = get(w, 0, 0, 0);
  float rx = 0, ry = 0, rz = 0;
  // Along x: differences of the displacement times means of the parameters.
  float mx = get(mu, 0, 0, 0), mx0 = get(mu, -2, 0, 0), mx1 = get(mu, -1, 0, 0);
  float mx2 = get(mu, 1, 0, 0), mx3 = get(mu, 2, 0, 0);
  float mxa = mx1 - 0.75 * (mx + mx0), mxb = mx0 + mx2 + 3 * (mx + mx1);
  float mxc = mx1 + mx3 + 3 * (mx2 + mx), mxd = mx2 - 0.75 * (mx + mx3);
  float lx = get(la, 0, 0, 0), lx0 = get(la, -2, 0, 0), lx1 = get(la, -1, 0, 0);
  float lx2 = get(la, 1, 0, 0), lx3 = get(la, 2, 0, 0);
  float lxa = lx1 - 0.75 * (lx + lx0), lxb = lx0 + lx2 + 3 * (lx + lx1);
  float lxc = lx1 + lx3 + 3 * (lx2 + lx), lxd = lx2 - 0.75 * (lx + lx3);
  rx += (2 * mxa + lxa) * (get(u, -2, 0, 0) - u0) + (2 * mxb + lxb) * (get(u, -1, 0, 0) - u0) +
        (2 * mxc + lxc) * (get(u, 1, 0, 0) - u0) + (2 * mxd + lxd) * (get(u, 2, 0, 0) - u0);
  ry += mxa * (get(v, -2, 0, 0) - v0) + mxb * (get(v, -1, 0, 0) - v0) +
        mxc * (get(v, 1, 0, 0) - v0) + mxd * (get(v, 2, 0, 0) - v0);
  rz += mxa * (get(w, -2, 0, 0) - w0) + mxb * (get(w, -1, 0, 0) - w0) +
        mxc * (get(w, 1, 0, 0) - w0) + mxd * (get(w, 2, 0, 0) - w0);
  // Along y: differences of the displacement times means of the parameters.
  float my = get(mu, 0, 0, 0), my0 = get(mu, 0, -2, 0), my1 = get(mu, 0, -1, 0);
  float my2 = get(mu, 0, 1, 0), my3 = get(mu, 0, 2, 0);
  float mya = my1 - 0.75 * (my + my0), myb = my0 + my2 + 3 * (my + my1);
  float myc = my1 + my3 + 3 * (my2 + my), myd = my2 - 0.75 * (my + my3);
  float ly = get(la, 0, 0, 0), ly0 = get(la, 0, -2, 0), ly1 = get(la, 0, -1, 0);
  float ly2 = get(la, 0, 1, 0), ly3 = get(la, 0, 2, 0);
  float lya = ly1 - 0.75 * (ly + ly0), lyb = ly0 + ly2 + 3 * (ly + ly1);
  float lyc = ly1 + ly3 + 3 * (ly2 + ly), lyd = ly2 - 0.75 * (ly + ly3);
  rx += mya * (get(u, 0, -2, 0) - u0) + myb * (get(u, 0, -1, 0) - u0) +
        myc * (get(u, 0, 1, 0) - u0) + myd * (get(u, 0, 2, 0) - u0);
  ry += (2 * mya + lya) * (get(v, 0, -2, 0) - v0) + (2 * myb + lyb) * (get(v, 0, -1, 0) - v0) +
        (2 * myc + lyc) * (get(v, 0, 1, 0) - v0) + (2 * myd + lyd) * (get(v, 0, 2, 0) - v0);
  rz += mya * (get(w, 0, -2, 0) - w0) + myb * (get(w, 0, -1, 0) - w0) +
        myc * (get(w, 0, 1, 0) - w0) + myd * (get(w, 0, 2, 0) - w0);
  // Along z: differences of the displacement times means of the parameters.
  float mz = get(mu, 0, 0, 0), mz0 = get(mu, 0, 0, -2), mz1 = get(mu, 0, 0, -1);
  float mz2 = get(mu, 0, 0, 1), mz3 = get(mu, 0, 0, 2);
  float mza = mz1 - 0.75 * (mz + mz0), mzb = mz0 + mz2 + 3 * (mz + mz1);
  float mzc = mz1 + mz3 + 3 * (mz2 + mz), mzd = mz2 - 0.75 * (mz + mz3);
  float lz = get(la, 0, 0, 0), lz0 = get(la, 0, 0, -2), lz1 = get(la, 0, 0, -1);
  float lz2 = get(la, 0, 0, 1), lz3 = get(la, 0, 0, 2);
  float lza = lz1 - 0.75 * (lz + lz0), lzb = lz0 + lz2 + 3 * (lz + lz1);
  float lzc = lz1 + lz3 + 3 * (lz2 + lz), lzd = lz2 - 0.75 * (lz + lz3);
  rx += mza * (get(u, 0, 0, -2) - u0) + mzb * (get(u, 0, 0, -1) - u0) +
        mzc * (get(u, 0, 0, 1) - u0) + mzd * (get(u, 0, 0, 2) - u0);
  ry += mza * (get(v, 0, 0, -2) - v0) + mzb * (get(v, 0, 0, -1) - v0) +
        mzc * (get(v, 0, 0, 1) - v0) + mzd * (get(v, 0, 0, 2) - v0);
  rz += (2 * mza + lza) * (get(w, 0, 0, -2) - w0) + (2 * mzb + lzb) * (get(w, 0, 0, -1) - w0) +
        (2 * mzc + lzc) * (get(w, 0, 0, 1) - w0) + (2 * mzd + lzd) * (get(w, 0, 0, 2) - w0);
  // Between axes: a slope along one of a slope along another, each (1, -8, 8, -1) / 12.
  float sx = 0, sy = 0, sz = 0;
  for (int i = -2; i <= 2; i++) {
    const float c = i == -2 ? 1 : i == -1 ? -8 : i == 1 ? 8 : -1;
    if (i != 0) {
      sx += c * get(la, i, 0, 0) * (get(v, i, -2, 0) - get(v, i, 2, 0) + 8 * (get(v, i, 1, 0) - get(v, i, -1, 0)));
      sx += c * get(mu, 0, i, 0) * (get(v, -2, i, 0) - get(v, 2, i, 0) + 8 * (get(v, 1, i, 0) - get(v, -1, i, 0)));
      sx += c * get(la, i, 0, 0) * (get(w, i, 0, -2) - get(w, i, 0, 2) + 8 * (get(w, i, 0, 1) - get(w, i, 0, -1)));
      sx += c * get(mu, 0, 0, i) * (get(w, -2, 0, i) - get(w, 2, 0, i) + 8 * (get(w, 1, 0, i) - get(w, -1, 0, i)));
      sy += c * get(la, 0, i, 0) * (get(u, -2, i, 0) - get(u, 2, i, 0) + 8 * (get(u, 1, i, 0) - get(u, -1, i, 0)));
      sy += c * get(mu, i, 0, 0) * (get(u, i, -2, 0) - get(u, i, 2, 0) + 8 * (get(u, i, 1, 0) - get(u, i, -1, 0)));
      sy += c * get(la, 0, i, 0) * (get(w, 0, i, -2) - get(w, 0, i, 2) + 8 * (get(w, 0, i, 1) - get(w, 0, i, -1)));
      sy += c * get(mu, 0, 0, i) * (get(w, 0, -2, i) - get(w, 0, 2, i) + 8 * (get(w, 0, 1, i) - get(w, 0, -1, i)));
      sz += c * get(la, 0, 0, i) * (get(u, -2, 0, i) - get(u, 2, 0, i) + 8 * (get(u, 1, 0, i) - get(u, -1, 0, i)));
      sz += c * get(mu, i, 0, 0) * (get(u, i, 0, -2) - get(u, i, 0, 2) + 8 * (get(u, i, 0, 1) - get(u, i, 0, -1)));
      sz += c * get(la, 0, 0, i) * (get(v, 0, -2, i) - get(v, 0, 2, i) + 8 * (get(v, 0, 1, i) - get(v, 0, -1, i)));
      sz += c * get(mu, 0, i, 0) * (get(v, 0, i, -2) - get(v, 0, i, 2) + 8 * (get(v, 0, i, 1) - get(v, 0, i, -1)));
    }
  }
  return a1 * get(ax, 0, 0, 0) + cof * (0.16666666666666667 * rx + 0.0069444444444444444 * sx),
         a1 * get(ay, 0, 0, 0) + cof * (0.16666666666666667 * ry + 0.0069444444444444444 * sy),
         a1 * get(az, 0, 0, 0) + cof * (0.16666666666666667 * rz + 0.0069444444444444444 * sz);
}
