# Two stages of different reach on a grid whose edges are held, and an array that is read by index.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (a, b)
Boundary fixed
Stages (spread, fold)
CellValue spread (b) { return 0.25f * (get(a, 0, -2) + get(a, 1, 0) + get(a, -1, 0) + get(a, 0, 1)) + 0.01f * read(iteration % 5 + x % 3); }
CellValue fold (a) { return 0.5f * (get(b, 0, 1) + get(b, 0, 0)); }
