# Heat in a volume of varying conductivity k: through the face between two cells
# flows what the mean of both conductivities and their difference say.
# Source: Patankar, "Numerical Heat Transfer and Fluid Flow" (1980), chapter 4, the
# explicit scheme with the arithmetic mean at faces.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (u)
ReadOnly (k)
Boundary clamp
DefaultSize (512, 512, 512)
Steps 1000
InputRange (0.5, 1.5)
CellValue {
  float c = get(u, 0, 0, 0), kc = get(k, 0, 0, 0);
  return c + 0.05 * ((kc + get(k, -1, 0, 0)) * (get(u, -1, 0, 0) - c) + (kc + get(k, 1, 0, 0)) * (get(u, 1, 0, 0) - c) +
                     (kc + get(k, 0, -1, 0)) * (get(u, 0, -1, 0) - c) + (kc + get(k, 0, 1, 0)) * (get(u, 0, 1, 0) - c) +
                     (kc + get(k, 0, 0, -1)) * (get(u, 0, 0, -1) - c) + (kc + get(k, 0, 0, 1)) * (get(u, 0, 0, 1) - c));
}
