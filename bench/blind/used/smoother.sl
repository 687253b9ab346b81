# The smoother of a multigrid that solves a sparse system with 27 coefficients in each row: half of a symmetric Gauss-Seidel sweep, in eight colours. Outside is 0.
# Source: Dongarra, Heroux and Luszczek, "HPCG benchmark: a new metric for ranking high performance computing systems" (2015), ComputeSYMGS; its colours after Phillips and Fatica, "A CUDA implementation of the high performance conjugate gradient benchmark" (2014).
NumDimensions 3
StencilSize (1, 1, 1)
DataType double
Fields (v)
ReadOnly (r, ammm, aomm, apmm, amom, aoom, apom, ampm, aopm, appm, ammo, aomo, apmo, amoo, aooo, apoo, ampo, aopo, appo, ammp, aomp, apmp, amop, aoop, apop, ampp, aopp, appp)
Boundary constant 0
Stages (c000, c100, c010, c110, c001, c101, c011, c111)
Color c000 x % 2 == 0 && y % 2 == 0 && z % 2 == 0
Color c100 x % 2 == 1 && y % 2 == 0 && z % 2 == 0
Color c010 x % 2 == 0 && y % 2 == 1 && z % 2 == 0
Color c110 x % 2 == 1 && y % 2 == 1 && z % 2 == 0
Color c001 x % 2 == 0 && y % 2 == 0 && z % 2 == 1
Color c101 x % 2 == 1 && y % 2 == 0 && z % 2 == 1
Color c011 x % 2 == 0 && y % 2 == 1 && z % 2 == 1
Color c111 x % 2 == 1 && y % 2 == 1 && z % 2 == 1
DefaultSize (104, 104, 104)
Steps 50
InputRange v (0, 1)
InputRange r (-1, 1)
InputRange ammm (-1, -0.5)
InputRange aomm (-1, -0.5)
InputRange apmm (-1, -0.5)
InputRange amom (-1, -0.5)
InputRange aoom (-1, -0.5)
InputRange apom (-1, -0.5)
InputRange ampm (-1, -0.5)
InputRange aopm (-1, -0.5)
InputRange appm (-1, -0.5)
InputRange ammo (-1, -0.5)
InputRange aomo (-1, -0.5)
InputRange apmo (-1, -0.5)
InputRange amoo (-1, -0.5)
InputRange aooo (25, 27)
InputRange apoo (-1, -0.5)
InputRange ampo (-1, -0.5)
InputRange aopo (-1, -0.5)
InputRange appo (-1, -0.5)
InputRange ammp (-1, -0.5)
InputRange aomp (-1, -0.5)
InputRange apmp (-1, -0.5)
InputRange amop (-1, -0.5)
InputRange aoop (-1, -0.5)
InputRange apop (-1, -0.5)
InputRange ampp (-1, -0.5)
InputRange aopp (-1, -0.5)
InputRange appp (-1, -0.5)
double row() {
  double s = get(r, 0, 0, 0);
  s -= get(ammm, 0, 0, 0) * get(v, -1, -1, -1);
  s -= get(aomm, 0, 0, 0) * get(v, 0, -1, -1);
  s -= get(apmm, 0, 0, 0) * get(v, 1, -1, -1);
  s -= get(amom, 0, 0, 0) * get(v, -1, 0, -1);
  s -= get(aoom, 0, 0, 0) * get(v, 0, 0, -1);
  s -= get(apom, 0, 0, 0) * get(v, 1, 0, -1);
  s -= get(ampm, 0, 0, 0) * get(v, -1, 1, -1);
  s -= get(aopm, 0, 0, 0) * get(v, 0, 1, -1);
  s -= get(appm, 0, 0, 0) * get(v, 1, 1, -1);
  s -= get(ammo, 0, 0, 0) * get(v, -1, -1, 0);
  s -= get(aomo, 0, 0, 0) * get(v, 0, -1, 0);
  s -= get(apmo, 0, 0, 0) * get(v, 1, -1, 0);
  s -= get(amoo, 0, 0, 0) * get(v, -1, 0, 0);
  s -= get(apoo, 0, 0, 0) * get(v, 1, 0, 0);
  s -= get(ampo, 0, 0, 0) * get(v, -1, 1, 0);
  s -= get(aopo, 0, 0, 0) * get(v, 0, 1, 0);
  s -= get(appo, 0, 0, 0) * get(v, 1, 1, 0);
  s -= get(ammp, 0, 0, 0) * get(v, -1, -1, 1);
  s -= get(aomp, 0, 0, 0) * get(v, 0, -1, 1);
  s -= get(apmp, 0, 0, 0) * get(v, 1, -1, 1);
  s -= get(amop, 0, 0, 0) * get(v, -1, 0, 1);
  s -= get(aoop, 0, 0, 0) * get(v, 0, 0, 1);
  s -= get(apop, 0, 0, 0) * get(v, 1, 0, 1);
  s -= get(ampp, 0, 0, 0) * get(v, -1, 1, 1);
  s -= get(aopp, 0, 0, 0) * get(v, 0, 1, 1);
  s -= get(appp, 0, 0, 0) * get(v, 1, 1, 1);
  return s / get(aooo, 0, 0, 0);
}
CellValue c000 { return row(); }
CellValue c100 { return row(); }
CellValue c010 { return row(); }
CellValue c110 { return row(); }
CellValue c001 { return row(); }
CellValue c101 { return row(); }
CellValue c011 { return row(); }
CellValue c111 { return row(); }
