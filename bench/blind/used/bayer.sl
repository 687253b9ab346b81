# The colours of a photograph from a camera's sensor, of 14 bits, each pixel of which sees red, green or blue through Bayer's mosaic: red where
# both coordinates are even, blue where both are odd. Applied once.
# Source: Malvar, He and Cutler, "High-quality linear interpolation for demosaicing of Bayer-patterned color images" (2004), figure 2.
NumDimensions 2
StencilSize (2, 2)
DataType uint16
Fields (red, green, blue)
ReadOnly (raw)
Boundary mirror
DefaultSize (6048, 4024)
Steps 1
InputRange raw (0, 16383)
int limited(int v) { return v < 0 ? 0 : v > 16383 ? 16383 : v; }
int near() { return get(raw, -1, 0) + get(raw, 1, 0) + get(raw, 0, -1) + get(raw, 0, 1); }
int corners() { return get(raw, -1, -1) + get(raw, 1, -1) + get(raw, -1, 1) + get(raw, 1, 1); }
int wide() { return get(raw, -2, 0) + get(raw, 2, 0); }
int high() { return get(raw, 0, -2) + get(raw, 0, 2); }
int greenhere() { return limited((8 * get(raw, 0, 0) + 4 * near() - 2 * (wide() + high()) + 8) / 16); }
int beside() { return limited((10 * get(raw, 0, 0) + 8 * (get(raw, -1, 0) + get(raw, 1, 0)) - 2 * wide() - 2 * corners() + high() + 8) / 16); }
int upright() { return limited((10 * get(raw, 0, 0) + 8 * (get(raw, 0, -1) + get(raw, 0, 1)) - 2 * high() - 2 * corners() + wide() + 8) / 16); }
int across() { return limited((12 * get(raw, 0, 0) + 4 * corners() - 3 * (wide() + high()) + 8) / 16); }
CellValue {
  if (y % 2 == 0) {
    if (x % 2 == 0) return get(raw, 0, 0), greenhere(), across();
    return beside(), get(raw, 0, 0), upright();
  }
  if (x % 2 == 0) return upright(), get(raw, 0, 0), beside();
  return across(), greenhere(), get(raw, 0, 0);
}
