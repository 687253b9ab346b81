# A mixture in a volume that separates into its two parts, c from -1 to 1: the
# chemical potential mu, then its diffusion. 0.5 is the square of the width of the
# boundary between the parts, 0.01 the time step, both in units of the mesh.
# Source: Cahn and Hilliard, "Free energy of a nonuniform system I" (1958); Cahn, "On
# spinodal decomposition" (1961), with the double well (c^2 - 1)^2 / 4.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (c, mu)
Temporary (mu)
Boundary wrap
Stages (potential, diffusion)
DefaultSize (512, 512, 512)
Steps 1000
CellValue potential (mu) {
  float a = get(c, 0, 0, 0);
  float laplace = get(c, -1, 0, 0) + get(c, 1, 0, 0) + get(c, 0, -1, 0) + get(c, 0, 1, 0) + get(c, 0, 0, -1) + get(c, 0, 0, 1) - 6 * a;
  return a * a * a - a - 0.5 * laplace;
}
CellValue diffusion (c) {
  return get(c, 0, 0, 0) + 0.01 * (get(mu, -1, 0, 0) + get(mu, 1, 0, 0) + get(mu, 0, -1, 0) + get(mu, 0, 1, 0) +
                                   get(mu, 0, 0, -1) + get(mu, 0, 0, 1) - 6 * get(mu, 0, 0, 0));
}
