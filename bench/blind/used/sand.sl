# Sand that falls through a machine: a cell is air (0), sand (1) or wall (2), and y counts downwards. Squares of 2 x 2 cells, which lie a cell further each step,
# change at once: a grain falls, and one that lies on something beside two cells of air slides down.
# Source: Chopard and Droz, "Cellular Automata Modeling of Physical Systems" (1998), chapter 2, the sand pile rule without its dice; Toffoli and Margolus,
# "Cellular Automata Machines" (1987), chapter 12, for the squares.
NumDimensions 2
StencilSize (1, 1)
DataType uint8
Boundary constant 2
DefaultSize (7680, 4320)
InputRange {0, 1, 2}
# A square's cell, right or left and low or high, after its grains have fallen and slid.
int moved(int tl, int tr, int bl, int br, bool right, bool low) {
  if (tl == 1 && bl == 0) {
    tl = 0;
    bl = 1;
  }
  if (tr == 1 && br == 0) {
    tr = 0;
    br = 1;
  }
  if (tl == 1 && tr == 0 && br == 0) {
    tl = 0;
    br = 1;
  }
  if (tr == 1 && tl == 0 && bl == 0) {
    tr = 0;
    bl = 1;
  }
  if (low) return right ? br : bl;
  return right ? tr : tl;
}
CellValue {
  bool right = (x + iteration) % 2 == 0, low = (y + iteration) % 2 == 0;
  int here = get(0, 0);
  int beside = right ? get(-1, 0) : get(1, 0);
  int across = low ? get(0, -1) : get(0, 1);
  int far = low ? (right ? get(-1, -1) : get(1, -1)) : (right ? get(-1, 1) : get(1, 1));
  int high = right ? beside : here, highright = right ? here : beside;
  int other = right ? far : across, otherright = right ? across : far;
  if (low) return moved(other, otherright, high, highright, right, low);
  return moved(high, highright, other, otherright, right, low);
}
