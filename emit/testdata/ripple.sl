# Two stages of 16-bit integers in a volume that mirrors; the second field's third is never set.
NumDimensions 3
StencilSize (1, 2, 1)
DataType uint16
ScalarVariables (unsigned int64 step = 7, float gain = 1.5)
Fields (a, b, mask)
Boundary mirror
Stages (spread, fold)
InputRange (0, 5000)
CellValue spread (b) { return get(a, -1, 0, 0) + get(a, 0, 2, 0) + 3 * get(a, 0, 0, 1) + step; }
CellValue fold (a) { return get(mask, 0, 0, 0) > 2500 ? get(b, 0, -1, 0) : gain * get(b, 1, 0, 0); }
