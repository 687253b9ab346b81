# A picture of the sky made sharp again: the guess u that, blurred as the telescope does (a Gaussian of standard deviation 2 over 9 x 9 pixels, along x and then y), most likely
# gives the plate. Pixels of weight 0 are dead; reach is the weights, blurred. Total variation keeps noise from growing.
# Source: Richardson, "Bayesian-based iterative method of image restoration" (1972); Lucy, "An iterative technique for the rectification of observed distributions" (1974); White,
# "Image restoration using the damped Richardson-Lucy method" (1994), dead pixels; Dey and others, "Richardson-Lucy algorithm with total variation regularization for 3D confocal
# microscope deconvolution" (2006), in the plane.
NumDimensions 2
StencilSize (4, 4)
DataType float16
Fields (u, blurred, ratio, back)
Temporary (blurred, ratio, back)
ReadOnly (plate, reach, weight: uint8)
ScalarVariables (float lambda = 0.01)
Boundary mirror
Stages (along, compare, hand, restore)
DefaultSize (4008, 2672)
Steps 40
InputRange u {0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 4}
InputRange plate (0.25, 1.5)
InputRange reach (0.85, 1)
InputRange weight {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
const float w[5] = {0.204163, 0.180174, 0.123831, 0.066282, 0.027631};
float east(int i, int j) { return get(u, i + 1, j) - get(u, i, j); }
float north(int i, int j) { return get(u, i, j + 1) - get(u, i, j); }
float length(float a, float b) { return sqrt(a * a + b * b + 0.0004); }
CellValue along (blurred) {
  float s = w[0] * get(u, 0, 0);
  for (int k = 1; k <= 4; k++) s += w[k] * (get(u, -k, 0) + get(u, k, 0));
  return s;
}
CellValue compare (ratio) {
  if (get(weight, 0, 0) == 0) return 0;
  float s = w[0] * get(blurred, 0, 0);
  for (int k = 1; k <= 4; k++) s += w[k] * (get(blurred, 0, -k) + get(blurred, 0, k));
  return get(plate, 0, 0) / fmax(s, 0.02);
}
CellValue hand (back) {
  float s = w[0] * get(ratio, 0, 0);
  for (int k = 1; k <= 4; k++) s += w[k] * (get(ratio, -k, 0) + get(ratio, k, 0));
  return s;
}
CellValue restore (u) {
  float s = w[0] * get(back, 0, 0);
  for (int k = 1; k <= 4; k++) s += w[k] * (get(back, 0, -k) + get(back, 0, k));
  float here = length(east(0, 0), north(0, 0));
  float bend = (east(0, 0) + north(0, 0)) / here - east(-1, 0) / length(east(-1, 0), north(-1, 0)) - north(0, -1) / length(east(0, -1), north(0, -1));
  return fmin(get(u, 0, 0) / (1 - lambda * bend) * s / get(reach, 0, 0), 100);
}
