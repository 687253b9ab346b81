# Gaussian blur: the integer 5 x 5 kernel of standard deviation 1. It is not the
# product of two one-dimensional kernels.
# Source: Fisher et al., "Hypermedia Image Processing Reference", Gaussian
# smoothing, figure 3; as benchmark 'gaussian' of Rawat et al. (PPoPP 2018).
NumDimensions 2
StencilSize (2, 2)
DataType float
Boundary clamp
CellValue {
  float corner = get(-2, -2) + get(2, -2) + get(-2, 2) + get(2, 2);
  float knight = get(-1, -2) + get(1, -2) + get(-2, -1) + get(2, -1) +
                 get(-2, 1) + get(2, 1) + get(-1, 2) + get(1, 2);
  float far = get(0, -2) + get(-2, 0) + get(2, 0) + get(0, 2);
  float diagonal = get(-1, -1) + get(1, -1) + get(-1, 1) + get(1, 1);
  float near = get(0, -1) + get(-1, 0) + get(1, 0) + get(0, 1);
  return (corner + 4 * knight + 7 * far + 16 * diagonal + 26 * near +
          41 * get(0, 0)) / 273;
}
