# A chip of layers, cooled by air at its top, on a board below, insulated at its sides.
# Source: Incropera and DeWitt, "Fundamentals of Heat and Mass Transfer", section 5.10, explicit cells with convection (Robin) faces.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (t)
ReadOnly (q, k[z])
Boundary clamp
EdgeValue t z low { return value - 0.3 * (value - 0.1); }
EdgeValue t z high { return 0.95 * value; }
DefaultSize (1000, 1000, 65)
InputRange (0, 1)
InputRange k (0.5, 1)
CellValue {
  float c = get(t, 0, 0, 0);
  float side = get(t, -1, 0, 0) + get(t, 1, 0, 0) + get(t, 0, -1, 0) + get(t, 0, 1, 0) - 4 * c;
  float up = 2 * get(k, 0) * get(k, 1) / (get(k, 0) + get(k, 1)) * (get(t, 0, 0, 1) - c);
  float down = 2 * get(k, 0) * get(k, -1) / (get(k, 0) + get(k, -1)) * (get(t, 0, 0, -1) - c);
  return c + 0.1 * (get(k, 0) * side + up + down) + 0.01 * get(q, 0, 0, 0);
}
