// Lists of places: what sources and receivers do after a time step.

template <bool EDGE>
__device__ __forceinline__ T list_read(const Grid &grid, int array, int x, int y, int z) {
  if (!EDGE) return __ldg(grid.in[array] + cell_index(grid, x, y, z));
  int ix = x, iy = y, iz = z;
  stand_in(grid, array, ix, iy, iz);
  return boundary_value(grid, array, __ldg(grid.in[array] + cell_index(grid, ix, iy, iz)), x, y, z, grid.iteration);
}

__device__ __forceinline__ long long cells_of(const Grid &grid) { return (long long)grid.nx * grid.ny * grid.nz; }
