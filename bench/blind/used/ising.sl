# A magnet of spins that are up (1) or down (0), at the temperature where it becomes one: Metropolis' algorithm on a chessboard in a volume. Each cell has
# random numbers of its own, from a linear congruence.
# Source: Preis, Virnau, Paul and Schneider, "GPU accelerated Monte Carlo simulation of the 2D and 3D Ising model" (2009), sections 3 and 4; Metropolis and
# others, "Equation of state calculations by fast computing machines" (1953); the critical coupling 0.2216546 of Ferrenberg, Xu and Landau (2018).
NumDimensions 3
StencilSize (1, 1, 1)
DataType uint32
Fields (spin: uint8, seed)
Boundary wrap
Stages (white, black)
Color white (x + y + z) % 2 == 0
Color black (x + y + z) % 2 == 1
DefaultSize (640, 640, 320)
InputRange spin {0, 1}
InputRange seed (0, 2147483647)
# 2^32 times exp(-4 * 0.2216546 * k) for k = 1, 2 and 3.
const uint32 once = 1769727431;
const uint32 twice = 729210484;
const uint32 thrice = 300468830;
uint32 drawn() { return 1664525 * get(seed, 0, 0, 0) + 1013904223; }
int turned() {
  int s = get(spin, 0, 0, 0);
  int up = get(spin, -1, 0, 0) + get(spin, 1, 0, 0) + get(spin, 0, -1, 0) + get(spin, 0, 1, 0) + get(spin, 0, 0, -1) + get(spin, 0, 0, 1);
  int same = s == 1 ? up : 6 - up;
  uint32 r = drawn();
  bool turn = same < 4 || same == 4 && r < once || same == 5 && r < twice || same == 6 && r < thrice;
  return turn ? 1 - s : s;
}
CellValue white (spin, seed) { return turned(), drawn(); }
CellValue black (spin, seed) { return turned(), drawn(); }
