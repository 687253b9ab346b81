# Heat in a stack of chips: seven weighted cells, the power of each cell and the
# ambient air.
# Source: Rodinia's hotspot3D, as in Virt and Wraa-Hansen, "Optimisation and GPU
# code generation of Stencils for Futhark" (2021), section 9.2. Rodinia computes
# the weights from the chip's size with cc = 1 - 2 cx - 2 cy - 3 ct; here they are
# scalars, and so is the time step over the heat capacity.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
ScalarVariables (float cc = 0.3, float cx = 0.1, float cy = 0.1, float ct = 0.1, float step = 0.01, float ambient = 80)
ReadOnly (power)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1000
CellValue {
  return cc * get(0, 0, 0) + cx * (get(-1, 0, 0) + get(1, 0, 0)) + cy * (get(0, -1, 0) + get(0, 1, 0)) +
         ct * (get(0, 0, -1) + get(0, 0, 1)) + step * get(power, 0, 0, 0) + ct * ambient;
}
