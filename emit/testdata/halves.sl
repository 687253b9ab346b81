# Fields of one type that is not the element type.
NumDimensions 3
StencilSize (1, 1, 1)
Fields (u: float16, v: float16)
CellValue { return 0.5 * get(u, 0, 0, 0) + 0.2 * (get(v, 1, 0, 0) + get(u, 0, -1, 0)), 0.4 * get(v, 0, 0, 0) + 0.3 * (get(u, 0, 0, 1) + get(v, -1, 0, 0)); }
