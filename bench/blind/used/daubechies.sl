# A signal through the low pass of Daubechies' wavelet with four vanishing moments, undecimated:
# eight distinct weights, to one side.
# Source: Daubechies, "Orthonormal bases of compactly supported wavelets" (1988), table 1; here they add up to 1.
NumDimensions 1
StencilSize (7)
DataType float
Boundary mirror
DefaultSize (48000000)
Steps 200
const float h[8] = {0.162901714, 0.505472858, 0.446100069, -0.019787513, -0.132253583, 0.021808150, 0.023251801, -0.007493495};
CellValue {
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += h[k] * get(-k);
  return sum;
}
