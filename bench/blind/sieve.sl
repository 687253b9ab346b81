# The filter of a jet noise computation: it takes out waves too short for the mesh, by nine points along each axis, and leaves long ones. How much of them a place loses (s) differs:
# little in the flow, more where waves must not come back. Outside all is at rest.
# Source: Bogey and Bailly, "A family of low dispersive and low dissipative explicit schemes for flow and noise computations" (2004), the optimised filter of 9 points.
NumDimensions 3
StencilSize (4, 4, 4)
DataType float
Fields (u)
ReadOnly (s)
Boundary constant 0
DefaultSize (512, 384, 416)
Steps 500
InputRange u (-1, 1)
InputRange s (0.02, 0.3)
const float d[5] = {0.243527493120, -0.204788880640, 0.120007591680, -0.045211119360, 0.008228661760};
CellValue {
  float c = get(u, 0, 0, 0);
  float shortest = 3 * d[0] * c;
  for (int k = 1; k <= 4; k++)
    shortest += d[k] * (get(u, -k, 0, 0) + get(u, k, 0, 0) + get(u, 0, -k, 0) + get(u, 0, k, 0) + get(u, 0, 0, -k) + get(u, 0, 0, k));
  return c - get(s, 0, 0, 0) * shortest;
}
