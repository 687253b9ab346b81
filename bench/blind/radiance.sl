# Light in a cloud by the first two moments of its radiance: how much there is (e) and where it flows (fx, fy, fz, times the root of 3 over its speed). A cell absorbs, scatters and glows,
# implicitly; between cells each axis has a Riemann problem of its own, solved exactly. It repeats along y, leaves freely along x, and nothing comes in from below and above.
# Source: Pomraning, "The Equations of Radiation Hydrodynamics" (1973), the P1 equations; Brunner and Holloway, "Two-dimensional time dependent Riemann solvers for
# neutron transport" (2005), the upwind fluxes of moments; Godunov's scheme for linear systems as in LeVeque, "Finite Volume Methods for Hyperbolic Problems" (2002), chapter 4.
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (e, fx, fy, fz)
ReadOnly (absorb, scatter, glow)
Boundary (clamp, wrap, constant 0)
DefaultSize (405, 363, 391)
Steps 1500
InputRange e (0, 1)
InputRange fx (-0.3, 0.3)
InputRange fy (-0.3, 0.3)
InputRange fz (-0.3, 0.3)
InputRange absorb (0.001, 0.05)    # in a time step
InputRange scatter (0, 0.4)
InputRange glow (0, 2)
const double l = 0.15;    # half of the time step times the speed of waves over the mesh width
CellValue (e, fx, fy, fz) {
  double c = get(e, 0, 0, 0), a = get(absorb, 0, 0, 0), lost = 1 / (1 + a + get(scatter, 0, 0, 0));
  double west = get(e, -1, 0, 0), east = get(e, 1, 0, 0), south = get(e, 0, -1, 0), north = get(e, 0, 1, 0), below = get(e, 0, 0, -1), above = get(e, 0, 0, 1);
  double fw = get(fx, -1, 0, 0), fe = get(fx, 1, 0, 0), fs = get(fy, 0, -1, 0), fn = get(fy, 0, 1, 0), fb = get(fz, 0, 0, -1), fa = get(fz, 0, 0, 1);
  double gain = fw - fe + fs - fn + fb - fa + west + east + south + north + below + above - 6 * c;
  double x0 = get(fx, 0, 0, 0), y0 = get(fy, 0, 0, 0), z0 = get(fz, 0, 0, 0);
  return (c + l * gain + a * get(glow, 0, 0, 0)) / (1 + a), lost * (x0 + l * (west - east + fw + fe - 2 * x0)),
         lost * (y0 + l * (south - north + fs + fn - 2 * y0)), lost * (z0 + l * (below - above + fb + fa - 2 * z0));
}
