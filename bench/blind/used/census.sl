# What a pixel of 8 bits looks like for stereo: its census, a bit for each of the 24 around it in 5 x 5 that is darker, of the left and of the right picture,
# and in how many bits the left one differs from the right one at the same place. Applied once.
# Source: Zabih and Woodfill, "Non-parametric local transforms for computing visual correspondence" (1994), section 3.2.
NumDimensions 2
StencilSize (2, 2)
DataType uint32
Fields (left, right, cost: uint8)
ReadOnly (a: uint8, b: uint8)
Boundary clamp
DefaultSize (4096, 3072)
Steps 1
InputRange a (0, 255)
InputRange b (0, 255)
CellValue {
  uint32 l = 0, r = 0;
  int differ = 0;
  const uint32 one = get(a, 0, 0), other = get(b, 0, 0);
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++)
      if (i != 0 || j != 0) {
        int darker = get(a, i, j) < one ? 1 : 0;
        int there = get(b, i, j) < other ? 1 : 0;
        l = 2 * l + darker;
        r = 2 * r + there;
        differ += darker != there ? 1 : 0;
      }
  return l, r, differ;
}
