# The sum of a cell and its six neighbours, in elements of type int8.
# Source: type-i8 in section 9.2 of Virt and Wraa-Hansen, "Optimisation and GPU code
# generation of Stencils for Futhark" (2021).
NumDimensions 3
StencilSize (1, 1, 1)
DataType int8
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1
CellValue {
  return get(0, 0, 0) + get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1);
}
