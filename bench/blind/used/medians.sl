# A long record of 12-bit samples whose spikes go and whose trend stays: medians of five, medians of three of them, and Hann's weights (Tukey's "53H").
# Source: Velleman, "Definition and comparison of robust nonlinear data smoothing algorithms" (1980), after Tukey, "Exploratory Data Analysis" (1977).
NumDimensions 1
StencilSize (2)
DataType uint16
Fields (s, five, three)
Temporary (five, three)
Boundary clamp
Stages (fives, threes, hann)
DefaultSize (90000001)
Steps 50
InputRange s (0, 4095)
int median(int a, int b, int c) { return max(min(a, b), min(max(a, b), c)); }
CellValue fives (five) {
  int a = get(s, -2), b = get(s, -1), c = get(s, 1), d = get(s, 2);
  return median(max(min(a, b), min(c, d)), get(s, 0), min(max(a, b), max(c, d)));
}
CellValue threes (three) { return median(get(five, -1), get(five, 0), get(five, 1)); }
CellValue hann (s) { return (get(three, -1) + 2 * get(three, 0) + get(three, 1) + 2) / 4; }
