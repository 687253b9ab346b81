# A photograph of bytes made to look painted: each pixel becomes the mean colour of that one of the four squares of 4 x 4 at it whose brightness varies least.
# Source: Kuwahara, Hachimura, Eiho and Kinoshita, "Processing of RI-angiocardiographic images" (1976); for colours Kyprianidis, Kang and Doellner, "Image and video abstraction by anisotropic Kuwahara filtering" (2009), section 2.
NumDimensions 2
StencilSize (3, 3)
DataType float
Fields (red: uint8, green: uint8, blue: uint8)
Boundary mirror
DefaultSize (6000, 4000)
Steps 4
InputRange red (0, 255)
InputRange green (0, 255)
InputRange blue (0, 255)
CellValue {
  float least = 1e9, r = 0, g = 0, b = 0;
  for (int q = 0; q < 4; q++) {
    float mr = 0, mg = 0, mb = 0, m = 0, v = 0;
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 4; i++) {
        const int dx = i - 3 * (q % 2), dy = j - 3 * (q / 2);
        float light = 0.299 * get(red, dx, dy) + 0.587 * get(green, dx, dy) + 0.114 * get(blue, dx, dy);
        mr += get(red, dx, dy);
        mg += get(green, dx, dy);
        mb += get(blue, dx, dy);
        m += light;
        v += light * light;
      }
    float spread = v - m * m / 16;
    if (spread < least) {
      least = spread;
      r = mr;
      g = mg;
      b = mb;
    }
  }
  return round(r / 16), round(g / 16), round(b / 16);
}
