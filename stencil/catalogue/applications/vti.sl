# Sound in layered rock, which carries it faster along the layers than across them:
# two coupled pressures, eighth order in space and second in time. v2 is the square
# of the velocity across; epsilon and delta are Thomsen's parameters. Nothing sounds
# outside.
# Source: Thomsen, "Weak elastic anisotropy" (1986); Duveneck et al., "Acoustic VTI wave
# equations and their application for anisotropic reverse-time migration" (2008);
# weights of Fornberg (1988), table 1.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
ScalarVariables (float epsilon = 0.2, float delta = 0.1)
Fields (p, pbefore, q, qbefore)
ReadOnly (v2)
Boundary constant 0
DefaultSize (512, 512, 512)
Steps 1000
InputRange (0.2, 1)
CellValue {
  float pc = get(p, 0, 0, 0), qc = get(q, 0, 0, 0);
  float along = 2.0 * -2.8472222222222223 * pc, across = -2.8472222222222223 * qc;
  for (int i = 1; i <= 4; i++) {
    const float w = i == 1 ? 1.6 : i == 2 ? -0.2 : i == 3 ? 0.025396825396825397 : -0.0017857142857142857;
    along += w * (get(p, -i, 0, 0) + get(p, i, 0, 0) + get(p, 0, -i, 0) + get(p, 0, i, 0));
    across += w * (get(q, 0, 0, -i) + get(q, 0, 0, i));
  }
  float k = 0.1 * get(v2, 0, 0, 0);
  return 2.0 * pc - get(pbefore, 0, 0, 0) + k * ((1 + 2 * epsilon) * along + across), pc,
         2.0 * qc - get(qbefore, 0, 0, 0) + k * ((1 + 2 * delta) * along + across), qc;
}
