# A tumour that ultrasound warms: temperature t (C) of tissues that conduct (k, a time step's), are cooled by blood (w, at rest), which flows faster where it is warm, and absorb (q); the
# focus of a beam of sound runs in circles, and the skin is at z = 0. Beyond the edges the body has 37 degrees. What the warmth has done is counted as minutes at 43 degrees (dose).
# Cells of 1 mm, steps of half a second.
# Source: Pennes, "Analysis of tissue and arterial blood temperatures in the resting human forearm" (1948); Lang, Erdmann and Seebass, "Impact of nonlinear heat transfer on temperature
# control in regional hyperthermia" (1999), the blood's flow in muscle; Sapareto and Dewey, "Thermal dose determination in cancer therapy" (1984).
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (t, dose)
ReadOnly (k, w, q)
ScalarVariables (float power = 0.6, float radius = 0.2)    # degrees a step in the focus; a share of the width
Boundary constant 37
DefaultSize (501, 487, 493)
Steps 2000
InputRange t (36.5, 45)
InputRange dose (0, 10)
InputRange k (0.02, 0.08)
InputRange w (0.0001, 0.0003)
InputRange q (0.5, 1.5)
float through(float a, float b) { return 2 * a * b / (a + b); }    # the face between two cells
CellValue {
  float c = get(t, 0, 0, 0), own = get(k, 0, 0, 0);
  float conducted = through(own, get(k, -1, 0, 0)) * (get(t, -1, 0, 0) - c) + through(own, get(k, 1, 0, 0)) * (get(t, 1, 0, 0) - c)
      + through(own, get(k, 0, -1, 0)) * (get(t, 0, -1, 0) - c) + through(own, get(k, 0, 1, 0)) * (get(t, 0, 1, 0) - c)
      + through(own, get(k, 0, 0, -1)) * (get(t, 0, 0, -1) - c) + through(own, get(k, 0, 0, 1)) * (get(t, 0, 0, 1) - c);
  float below = min(c - 45, 0);
  float blood = get(w, 0, 0, 0) * (1 + 7.9 * exp(-below * below / 12)) * (37 - c);
  float angle = 0.1 * iteration;
  float dx = x - (0.5 + radius * cos(angle)) * input_size.x, dy = y - 0.5 * input_size.y - radius * sin(angle) * input_size.x, dz = z - 0.5 * input_size.z;
  float narrow = 1 / (1 + dz * dz / 3600);    # of the beam, Gaussian, with a waist of six cells and half its strength at 60 cells
  float sound = power * get(q, 0, 0, 0) * narrow * exp(-narrow * (dx * dx + dy * dy) / 36 - 0.01 * dz);
  float warm = c + conducted + blood + sound;
  return warm, get(dose, 0, 0, 0) + 0.008333333 * exp2(warm > 43 ? warm - 43 : 2 * (warm - 43));
}
