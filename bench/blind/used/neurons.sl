# A sheet of nerve cells, those that excite and those that inhibit, of which each answers by a sigmoid to what reaches it: near ones excite, further ones inhibit, and
# what has reached a cell decays. A stimulus is given. Edges reflect nothing.
# Source: Wilson and Cowan, "A mathematical theory of the functional dynamics of cortical and thalamic nervous tissue" (1973), equations 1.3; Ermentrout (1998) for tanh.
NumDimensions 2
StencilSize (2, 2)
DataType float
Fields (e, i)
ReadOnly (stimulus)
Boundary constant 0
DefaultSize (4000, 3001)
Steps 800
InputRange e (0, 1)
InputRange i (0, 1)
InputRange stimulus (0, 0.5)
const float dt = 0.1;
float answer(float x, float threshold) { return 0.5 + 0.5 * tanh(1.2 * (x - threshold)); }
CellValue {
  float near = 0, far = 0;
  for (int k = -1; k <= 1; k++)
    for (int l = -1; l <= 1; l++) near += get(e, l, k);
  for (int k = -2; k <= 2; k++)
    for (int l = -2; l <= 2; l++) far += get(i, l, k);
  float ce = get(e, 0, 0), ci = get(i, 0, 0);
  return ce + dt * (-ce + (1 - ce) * answer(1.8 * near - 0.5 * far + get(stimulus, 0, 0), 2.8)),
         ci + 0.5 * dt * (-ci + (1 - ci) * answer(1.6 * near - 0.12 * far, 4.0));
}
