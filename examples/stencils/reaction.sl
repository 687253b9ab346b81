# Gray and Scott's reaction of two substances that diffuse.
NumDimensions 2
StencilSize (1, 1)
Fields (u, v)
Boundary wrap
InputRange (0, 1)
#define F 0.037
#define K 0.06
CellValue {
  float lu = get(u, -1, 0) + get(u, 1, 0) + get(u, 0, -1) + get(u, 0, 1) - 4 * get(u, 0, 0);
  float lv = get(v, -1, 0) + get(v, 1, 0) + get(v, 0, -1) + get(v, 0, 1) - 4 * get(v, 0, 0);
  float uvv = get(u, 0, 0) * get(v, 0, 0) * get(v, 0, 0);
  return get(u, 0, 0) + 0.16 * lu - uvv + F * (1 - get(u, 0, 0)),
         get(v, 0, 0) + 0.08 * lv + uvv - (F + K) * get(v, 0, 0);
}
