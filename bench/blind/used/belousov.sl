# Waves of infection that look like those of the Belousov-Zhabotinsky reaction: a cell is healthy (0), infected (1 to 99) or ill (100). The healthy are infected by those
# around them, the infected take the mean of the infected and get worse, and the ill are healthy at once. Outside all is healthy.
# Source: Gerhardt and Schuster, "A cellular automaton describing the formation of spatially ordered structures in chemical systems" (1989); Dewdney, "Computer
# recreations: the hodgepodge machine makes waves" (1988), the divisor; the eight cells around.
NumDimensions 2
StencilSize (1, 1)
DataType int
Fields (sick: uint8)
ScalarVariables (int k1 = 2, k2 = 3, g = 28)
Boundary constant 0
DefaultSize (8999, 7411)
Steps 2000
InputRange sick (0, 100)
const int ill = 100;
CellValue {
  int own = get(sick, 0, 0);
  if (own == ill) return 0;
  int infected = 0, down = 0, sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) {
      int s = get(sick, i, j);
      sum += s;
      if (s == ill) down++;
      else if (s > 0) infected++;
    }
  if (own == 0) return min(infected / k1 + down / k2, ill);
  return min(sum / (infected + down) + g, ill);
}
