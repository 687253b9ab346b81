// Workload matmul: C = A B. C is the grid, A and B are the read-only arrays, their
// rows as long as C's; the inner extent is the smaller one of C's.

constexpr int A = FIELDS, B = FIELDS + 1; // among the arrays of a Grid

__device__ __forceinline__ int inner(const Grid &grid) { return min(grid.nx, grid.ny); }
