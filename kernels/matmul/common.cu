// Workload matmul: C = A B. C is the grid, A and B are the read-only arrays 0 and 1,
// their rows as long as C's; the inner extent is the smaller one of C's.

constexpr int WRITE_X = GROUP_X * WORK_X, WRITE_Y = GROUP_Y * WORK_Y;

__device__ __forceinline__ int inner(const Grid &grid) { return min(grid.nx, grid.ny); }
