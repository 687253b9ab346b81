// For kernels between time steps: point (x, y, z) of an array in memory. Only with EDGE may it lie outside the grid.
template <bool EDGE>
__device__ __forceinline__ T read_cell(const Grid &grid, int array, int x, int y, int z) {
  if (!EDGE) return __ldg(grid.in[array] + cell_index(grid, x, y, z));
  int ix = x, iy = y, iz = z;
  stand_in(grid, array, ix, iy, iz);
  return boundary_value(grid, array, __ldg(grid.in[array] + cell_index(grid, ix, iy, iz)), x, y, z, grid.iteration);
}
