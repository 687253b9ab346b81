# Numbers of a step of each kind, that follow from each other in two looks at the grid, with Until beside them.
NumDimensions 2
StencilSize (1, 1)
ScalarVariables (double w = 0.3)
ReadOnly (k, profile[y])
Boundary (wrap, mirror)
InputRange (0.5, 1.5)
StepScalar max high { return get(1, 1) * get(profile, 1); }
StepScalar min low { return get(-1, 0) + get(k, 0, 0); }
StepScalar dt { return w / (2 + high * iteration); }
StepScalar sum spread { return fabs(get(0, 0) - dt) + 0 * read(k, iteration); }
StepScalar mean { return spread / input_size.x / input_size.y; }
CellValue { return 0.5 * get(0, 0) + dt * (get(-1, 0) + get(1, 0) + get(0, 1)) + 0.01 * mean * low; }
Reduce max { return fabs(value - get(0, 0)); }
Until < 0.0625 every 2
