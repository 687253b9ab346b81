# Heights that wear off until in two steps none loses more than a few: the older ones are a copy.
NumDimensions 1
StencilSize (1)
DataType int
Fields (height, older)
InputRange (0, 1000)
CellValue { return (3 * get(height, 0) + get(height, 1)) / 5, get(height, 0); }
Reduce max { return abs(value(height) - get(older, 0)); }
Until <= 9 every 5
