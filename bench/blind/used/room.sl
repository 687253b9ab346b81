# Sound in a concert hall of any shape: a byte says where there is air, and walls absorb a part. Loudspeakers play, microphones record.
# Source: Webb and Bilbao, "Computing room acoustics with CUDA: 3D FDTD schemes with boundary losses and viscosity" (2011), equations 4 to 9, without viscosity.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (p, before)
ReadOnly (air: uint8)
ScalarVariables (float absorption = 0.12)
Boundary constant 0
DefaultSize (602, 402, 202)
InputRange air {1, 1, 1, 1, 0}
const float courant = 0.57;
int open(int i, int j, int k) {
  if (x + i < 0 || x + i >= input_size.x || y + j < 0 || y + j >= input_size.y || z + k < 0 || z + k >= input_size.z) return 0;
  return get(air, i, j, k);
}
CellValue {
  if (get(air, 0, 0, 0) == 0) return 0, 0;
  int n = open(-1, 0, 0) + open(1, 0, 0) + open(0, -1, 0) + open(0, 1, 0) + open(0, 0, -1) + open(0, 0, 1);
  float loss = 0.5 * courant * absorption * (6 - n);
  float sum = get(p, -1, 0, 0) + get(p, 1, 0, 0) + get(p, 0, -1, 0) + get(p, 0, 1, 0) + get(p, 0, 0, -1) + get(p, 0, 0, 1);
  float next = ((2 - courant * courant * n) * get(p, 0, 0, 0) + courant * courant * sum - (1 - loss) * get(before, 0, 0, 0)) / (1 + loss);
  return next, get(p, 0, 0, 0);
}
Sources speaker (p) { return get(p, 0, 0, 0) + get(air, 0, 0, 0) * value; }
Receivers microphone { return get(p, 0, 0, 0); }
InputRange speaker (-0.1, 0.1)
