# A chain of masses whose springs push back exponentially: momenta, then places, walls at both ends.
# Source: Toda, "Vibration of a chain with nonlinear interaction" (1967); symplectic Euler in time.
NumDimensions 1
StencilSize (1)
DataType double
Fields (q, p)
Boundary constant 0
Stages (push, move)
DefaultSize (12000001)
InputRange (-0.5, 0.5)
const double dt = 0.1;
CellValue push (p) { return get(p, 0) + dt * (exp(get(q, -1) - get(q, 0)) - exp(get(q, 0) - get(q, 1))); }
CellValue move (q) { return get(q, 0) + dt * get(p, 0); }
