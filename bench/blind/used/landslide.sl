# A landslide that runs down a valley: debris h (m) on ground of a height (m). A cell hands debris to those of its four neighbours that lie lower, so that their
# surfaces come as near to each other as they can; cells that lie too high for that are left out one after the other.
# Source: Avolio, Di Gregorio, Mantovani, Pasuto, Rongo, Silvano and Spataro, "Simulation of the 1992 Tessina landslide by a cellular automata model and future
# hazard scenarios" (2000), SCIDDICA T, with the minimisation of Di Gregorio and Serra, "An empirical method for modelling and simulating some complex
# macroscopic phenomena by cellular automata" (1999).
NumDimensions 2
StencilSize (1, 1)
DataType double
Fields (h, east, west, north, south)
Temporary (east, west, north, south)
ReadOnly (ground)
ScalarVariables (double adherent = 0.001, rate = 0.5)
Stages (outflow, balance)
Boundary clamp
Boundary east constant 0
Boundary west constant 0
Boundary north constant 0
Boundary south constant 0
DefaultSize (6100, 4960)
Steps 4000
InputRange h (0, 2)
InputRange ground (1200, 1203)
CellValue outflow (east, west, north, south) {
  double mobile = get(h, 0, 0) - adherent;
  if (mobile <= 0) return 0, 0, 0, 0;
  double u[5] = {get(ground, 0, 0) + adherent, get(ground, 1, 0) + get(h, 1, 0), get(ground, -1, 0) + get(h, -1, 0),
                 get(ground, 0, 1) + get(h, 0, 1), get(ground, 0, -1) + get(h, 0, -1)};
  bool in[5] = {1, 1, 1, 1, 1};
  double level = 0;
  for (int turn = 0; turn < 5; turn++) {
    double sum = mobile;
    double n = 0;
    for (int i = 0; i < 5; i++)
      if (in[i]) {
        sum += u[i];
        n += 1;
      }
    level = sum / n;
    for (int i = 0; i < 5; i++) if (level <= u[i]) in[i] = 0;
  }
  return in[1] ? rate * (level - u[1]) : 0, in[2] ? rate * (level - u[2]) : 0, in[3] ? rate * (level - u[3]) : 0, in[4] ? rate * (level - u[4]) : 0;
}
CellValue balance (h) {
  double out = get(east, 0, 0) + get(west, 0, 0) + get(north, 0, 0) + get(south, 0, 0);
  return get(h, 0, 0) - out + get(east, -1, 0) + get(west, 1, 0) + get(north, 0, -1) + get(south, 0, 1);
}
