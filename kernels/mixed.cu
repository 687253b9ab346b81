// What kernels/common.cu says of one boundary rule, where rules differ: rule(array, axis, side) is an array's beyond
// the low (0) or the high side (1) of an axis.

// Whether a cell lies in the grid, or beyond it where the grid repeats: there it is one of the other side.
__device__ __forceinline__ bool in_grid(const Grid &grid, int x, int y, int z) {
  return (wraps(0) | ((unsigned)x < (unsigned)grid.nx)) & (wraps(1) | ((unsigned)y < (unsigned)grid.ny)) & (wraps(2) | ((unsigned)z < (unsigned)grid.nz));
}

// The cell inside, on an axis of n cells, that stands for cell i of an array: itself, or by the
// boundary rule another. Where the rule names none, the nearest.
template <int AXIS>
__device__ __forceinline__ int boundary_index(int array, int i, int n) {
  if (wraps(AXIS)) return repeated(i, n);
  const bool low = rule(array, AXIS, 0) == MIRROR, high = rule(array, AXIS, 1) == MIRROR;
  if (low && high) return mirrored(i, n);
  if (low || high) return (i < 0 ? low : high) ? mirrored(i, n) : clamp_index(i, n);
  return clamp_index(i, n);
}

// The same, in a tile: where the grid repeats, a tile holds the cell itself.
template <int AXIS>
__device__ __forceinline__ int held_index(int array, int i, int n) { return wraps(AXIS) ? i : boundary_index<AXIS>(array, i, n); }

// Whether code for the grid's edge is of use on an axis: there is none where the grid repeats.
template <int AXIS> __host__ __device__ constexpr bool on_edge(bool edge) { return edge && !wraps(AXIS); }

// The first and the last cell of a tile that lie in the grid, on an axis that does not repeat.
template <int AXIS>
__device__ __forceinline__ int low_cell(int origin) { return wraps(AXIS) ? -(1 << 30) : -origin; }
template <int AXIS>
__device__ __forceinline__ int high_cell(int last) { return wraps(AXIS) ? 1 << 30 : last; }

// Where a point outside lies by the rules that name a cell: EdgeValue is asked there.
template <int AXIS>
__device__ __forceinline__ int settled(int array, int i, int n) {
  const Boundary by = i < 0 ? rule(array, AXIS, 0) : rule(array, AXIS, 1);
  return by == EDGE_VALUE || by == CONSTANT ? i : boundary_index<AXIS>(array, i, n);
}

// Whether cell i lies outside where the rule names no cell.
template <int AXIS>
__device__ __forceinline__ bool unsettled(int array, int i, int n) {
  const Boundary by = i < 0 ? rule(array, AXIS, 0) : rule(array, AXIS, 1);
  return (unsigned)i >= (unsigned)n && (by == EDGE_VALUE || by == CONSTANT);
}

__device__ __forceinline__ void stand_in(const Grid &grid, int array, int &x, int &y, int &z) {
  x = boundary_index<0>(array, x, grid.nx);
  y = boundary_index<1>(array, y, grid.ny);
  z = boundary_index<2>(array, z, grid.nz);
}

__device__ __forceinline__ void held_in(const Grid &grid, int array, int &x, int &y, int &z) {
  x = held_index<0>(array, x, grid.nx);
  y = held_index<1>(array, y, grid.ny);
  z = held_index<2>(array, z, grid.nz);
}

// A cell of the grid, whatever the array: on an axis that repeats the right one, on others the nearest.
__device__ __forceinline__ void wrap(const Grid &grid, int &x, int &y, int &z) {
  x = wraps(0) ? boundary_index<0>(0, x, grid.nx) : clamp_index(x, grid.nx);
  y = wraps(1) ? boundary_index<1>(0, y, grid.ny) : clamp_index(y, grid.ny);
  z = wraps(2) ? boundary_index<2>(0, z, grid.nz) : clamp_index(z, grid.nz);
}

