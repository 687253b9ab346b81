# A picture smoothed where another one is smooth: in boxes of 9 x 9 the line that explains it best by the other, then the mean of all lines that meet in a pixel. Applied once.
# Source: He, Sun and Tang, "Guided image filtering" (2013), equations 5, 6 and 8 and algorithm 1; a box at the edge counts the nearest pixels again.
NumDimensions 2
StencilSize (4, 4)
DataType float
Fields (a, b, q)
Temporary (a, b)
ReadOnly (guide: uint8, picture: uint8)
Boundary clamp
Stages (lines, mean)
DefaultSize (5184, 3456)
Steps 1
InputRange guide (0, 255)
InputRange picture (0, 255)
const float eps = 100;
CellValue lines (a, b) {
  float si = 0, sp = 0, sii = 0, sip = 0;
  for (int j = -4; j <= 4; j++)
    for (int i = -4; i <= 4; i++) {
      si += get(guide, i, j);
      sp += get(picture, i, j);
      sii += get(guide, i, j) * get(guide, i, j);
      sip += get(guide, i, j) * get(picture, i, j);
    }
  float mi = si / 81, mp = sp / 81;
  float slope = (sip / 81 - mi * mp) / (sii / 81 - mi * mi + eps);
  return slope, mp - slope * mi;
}
CellValue mean (q) {
  float sa = 0, sb = 0;
  for (int j = -4; j <= 4; j++)
    for (int i = -4; i <= 4; i++) {
      sa += get(a, i, j);
      sb += get(b, i, j);
    }
  return (sa * get(guide, 0, 0) + sb) / 81;
}
