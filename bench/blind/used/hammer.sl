# A long pipeline whose valve at the far end is closed: the head of water (m) and the flow (m3/s) along it, by the method of characteristics. A
# reservoir feeds it at the near end; how rough each reach is differs.
# Source: Wylie and Streeter, "Fluid Transients" (1978), chapter 3: equations 3-18 to 3-22, the reservoir, and the valve with its flow either way.
NumDimensions 1
StencilSize (1)
DataType double
Fields (h, q)
ReadOnly (f)
ScalarVariables (double closing = 5000)    # steps, of a millisecond each
DefaultSize (1000001)
InputRange h (80, 120)
InputRange q (0, 0.5)
InputRange f (0.012, 0.03)
const double g = 9.81;
const double speed = 1000;
const double dx = 1;
const double diameter = 0.9;
const double area = 3.141592653589793 / 4 * 0.9 * 0.9;
const double reservoir = 100;
const double B = speed / (g * area);
const double openflow = 0.4;
const double openhead = 60;
double resistance() { return get(f, 0) * dx / (2 * g * diameter * area * area); }
CellValue {
  double cp = get(h, -1) + B * get(q, -1);
  double bp = B + resistance() * fabs(get(q, -1));
  double cm = get(h, 1) - B * get(q, 1);
  double bm = B + resistance() * fabs(get(q, 1));
  if (x == 0) return reservoir, (reservoir - cm) / bm;
  if (x == input_size.x - 1) {
    double open = iteration < closing ? pow(1 - iteration / closing, 1.5) : 0;
    double cv = openflow * open * openflow * open / (2 * openhead);
    double flow = 0;
    if (cp >= 0) flow = -bp * cv + sqrt(bp * cv * bp * cv + 2 * cv * cp);
    else flow = bp * cv - sqrt(bp * cv * bp * cv - 2 * cv * cp);
    return cp - bp * flow, flow;
  }
  return (cp * bm + cm * bp) / (bp + bm), (cp - cm) / (bp + bm);
}
