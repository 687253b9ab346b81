# What a reactor that burns gives off, over a continent: iodine as gas and on dust, caesium, tellurium that decays to iodine, and what has fallen on the ground; a wind of each cell carries, eddies mix, rain washes out. All is kept in 16 bits.
# Source: Brandt, Christensen and Frohn, "Modelling transport and deposition of caesium and iodine from the Chernobyl accident using the DREAM model" (2002), equation 1, wet and dry deposition; first-order upwind in place of their scheme.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float16
Fields (gas, dust, caesium, tellurium, ground)
ReadOnly (u, v, w, rain: uint8, mixing[z])
Boundary (constant 0, constant 0, clamp)
DefaultSize (721, 501, 41)
Steps 1440
InputRange gas (0, 10)
InputRange dust (0, 10)
InputRange caesium (0, 5)
InputRange tellurium (0, 20)
InputRange ground (0, 50)
InputRange u (-0.3, 0.3)
InputRange v (-0.3, 0.3)
InputRange w (-0.1, 0.1)
InputRange rain {0, 1, 2, 3}
InputRange mixing (0.01, 0.1)
float upwind(float speed, float low, float here, float high) { return speed > 0 ? speed * (here - low) : speed * (high - here); }
float carried(float here, float west, float east, float south, float north, float down, float up) {
  float a = upwind(get(u, 0, 0, 0), west, here, east) + upwind(get(v, 0, 0, 0), south, here, north) + upwind(get(w, 0, 0, 0), down, here, up);
  return here - a + 0.02 * (west + east + south + north - 4 * here) + get(mixing, 0) * (up - here) + get(mixing, -1) * (down - here);
}
CellValue {
  float g = carried(get(gas, 0, 0, 0), get(gas, -1, 0, 0), get(gas, 1, 0, 0), get(gas, 0, -1, 0), get(gas, 0, 1, 0), get(gas, 0, 0, -1), get(gas, 0, 0, 1));
  float a = carried(get(dust, 0, 0, 0), get(dust, -1, 0, 0), get(dust, 1, 0, 0), get(dust, 0, -1, 0), get(dust, 0, 1, 0), get(dust, 0, 0, -1), get(dust, 0, 0, 1));
  float c = carried(get(caesium, 0, 0, 0), get(caesium, -1, 0, 0), get(caesium, 1, 0, 0), get(caesium, 0, -1, 0), get(caesium, 0, 1, 0), get(caesium, 0, 0, -1), get(caesium, 0, 0, 1));
  float t = carried(get(tellurium, 0, 0, 0), get(tellurium, -1, 0, 0), get(tellurium, 1, 0, 0), get(tellurium, 0, -1, 0), get(tellurium, 0, 1, 0), get(tellurium, 0, 0, -1), get(tellurium, 0, 0, 1));
  float wet = 0.04 * get(rain, 0, 0, 0), dry = z == 0 ? 0.02 : 0.0;
  float lost = wet + dry;
  # Gas settles on dust; tellurium decays to iodine.
  return g * (0.99 - 0.5 * wet - 2 * dry), a * (1 - lost) + 0.01 * g + 0.009 * t, c * (1 - lost), t * (0.991 - lost), get(ground, 0, 0, 0) + lost * (a + c + t);
}
