# The earth's temperature (C) by place, a step of some days: sunshine by latitude and season, ice that throws it back, the heat that goes to space, and what the air
# carries, along and across circles of latitude of which a cell's share differs. Land warms faster than the sea. Around the earth it repeats.
# Source: North, Mengel and Short, "Simple energy balance model resolving the seasons and the continents" (1983), equations 1 to 4; Budyko (1969) for 203.3 and 2.09.
NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (t)
ReadOnly (land: uint8, wider[y], south[y], north[y], sine[y], cosine[y])
ScalarVariables (float co2 = 0)
Boundary (wrap, clamp)
DefaultSize (2880, 1440)
Steps 3650
InputRange t (-40, 40)
InputRange land {0, 0, 1}
InputRange wider (0.1, 1)
InputRange south (0, 0.3)
InputRange north (0, 0.3)
InputRange sine (-1, 1)
InputRange cosine (0.05, 1)
const float pi = 3.141592653589793;
const float year = 73;          # steps
CellValue {
  float c = get(t, 0, 0);
  float sun = 340 * (1 + 0.24 * (1 - 3 * get(sine, 0) * get(sine, 0)) - 0.8 * sin(2 * pi * iteration / year) * get(sine, 0) * get(cosine, 0));
  float ice = 1 / (1 + exp(0.5 * (c + 8)));
  float taken = sun * (1 - 0.3 - 0.32 * ice);
  float lost = 203.3 + 2.09 * c - 5.35 * log(1 + co2 / 280);
  float carried = get(wider, 0) * (get(t, -1, 0) + get(t, 1, 0) - 2 * c) + get(south, 0) * (get(t, 0, -1) - c) + get(north, 0) * (get(t, 0, 1) - c);
  float capacity = get(land, 0, 0) > 0 ? 0.02 : c < -2 ? 0.005 : 0.0003;
  return c + capacity * (taken - lost) + 0.2 * carried;
}
