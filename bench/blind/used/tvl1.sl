# What moved between two frames of a film: the flow (u, v), in pixels, of least total variation that explains how brightness changed but for outliers; duals (pu, qu) and
# (pv, qv) of its slopes. The second frame is warped by a first guess: its slopes ix and iy, and what it differs by from the first one, less what the guess explains (it).
# Source: Zach, Pock and Bischof, "A duality based approach for realtime TV-L1 optical flow" (2007), the thresholding step, then Chambolle's step of the duals.
NumDimensions 2
StencilSize (1, 1)
DataType float16
Fields (u, v, pu, qu, pv, qv)
ReadOnly (ix, iy, it)
ScalarVariables (float lambda = 0.15, float theta = 0.3, float tau = 0.24)
Boundary clamp
Boundary pu x (constant 0, clamp)
Boundary pv x (constant 0, clamp)
Boundary qu y (constant 0, clamp)
Boundary qv y (constant 0, clamp)
Stages (flow, dual)
DefaultSize (3840, 2160)
Steps 150
InputRange u (-4, 4)
InputRange v (-4, 4)
InputRange pu (-0.7, 0.7)
InputRange qu (-0.7, 0.7)
InputRange pv (-0.7, 0.7)
InputRange qv (-0.7, 0.7)
InputRange ix (-40, 40)
InputRange iy (-40, 40)
InputRange it (-60, 60)
CellValue flow (u, v) {
  float gx = get(ix, 0, 0), gy = get(iy, 0, 0);
  float steep = gx * gx + gy * gy;
  float rest = get(it, 0, 0) + gx * get(u, 0, 0) + gy * get(v, 0, 0);
  float most = lambda * theta;
  float t = -rest / fmax(steep, 0.01);
  t = fmin(fmax(t, -most), most);
  float divu = get(pu, 0, 0) - get(pu, -1, 0) + get(qu, 0, 0) - get(qu, 0, -1);
  float divv = get(pv, 0, 0) - get(pv, -1, 0) + get(qv, 0, 0) - get(qv, 0, -1);
  return get(u, 0, 0) + t * gx + theta * divu, get(v, 0, 0) + t * gy + theta * divv;
}
CellValue dual (pu, qu, pv, qv) {
  float ux = get(u, 1, 0) - get(u, 0, 0), uy = get(u, 0, 1) - get(u, 0, 0), vx = get(v, 1, 0) - get(v, 0, 0), vy = get(v, 0, 1) - get(v, 0, 0);
  float r = tau / theta;
  float nu = 1 + r * sqrt(ux * ux + uy * uy), nv = 1 + r * sqrt(vx * vx + vy * vy);
  return (get(pu, 0, 0) + r * ux) / nu, (get(qu, 0, 0) + r * uy) / nu, (get(pv, 0, 0) + r * vx) / nv, (get(qv, 0, 0) + r * vy) / nv;
}
