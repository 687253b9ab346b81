// The reduction of all cells to one number a block: cell() gives what Reduce's
// function says of a cell, from the fields before and after a step.

enum Operation { SUM, MIN, MAX };

__device__ __forceinline__ double combine(double a, double b) {
  if (OPERATION == SUM) return a + b;
  if (a != a) return a; // one cell that is not a number makes the whole none
  if (OPERATION == MIN) return a < b ? a : b;
  return a > b ? a : b;
}

template <bool EDGE>
__device__ __forceinline__ T load(const Grid &grid, int field, int x, int y, int z) {
  if (!EDGE) return __ldg(grid.in[field] + cell_index(grid, x, y, z));
  int ix = x, iy = y, iz = z;
  stand_in(grid, field, ix, iy, iz);
  return boundary_value(grid, field, __ldg(grid.in[field] + cell_index(grid, ix, iy, iz)), x, y, z, grid.iteration);
}

template <bool EDGE>
__device__ __forceinline__ double value_of(const Grid &grid, int x, int y, int z) {
  return (double)cell<EDGE>(grid, x, y, z, grid.iteration, [&](int field, int dx, int dy, int dz) {
           return load<EDGE>(grid, field, x + dx, y + dy, z + dz);
         }).at[0];
}

__device__ __forceinline__ double value_at(const Grid &grid, int x, int y, int z) {
  const bool inside = x >= LOW_X && x + HIGH_X + RIM_X < grid.nx && y >= LOW_Y && y + HIGH_Y + RIM_Y < grid.ny && z >= LOW_Z && z + HIGH_Z + RIM_Z < grid.nz;
  return inside ? value_of<false>(grid, x, y, z) : value_of<true>(grid, x, y, z);
}

// Block b leaves its number in element b of the output, as a double. The order of the
// cells is fixed, so that the same grid gives the same bits.
extern "C" __global__ void __launch_bounds__(THREADS) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  __shared__ double partial[THREADS];
  const int t = threadIdx.x;
  const long long cells = (long long)grid.nx * grid.ny * grid.nz;
  const long long first = (long long)blockIdx.x * THREADS, stride = (long long)gridDim.x * THREADS;
  if (first + t < cells) {
    // The cells of a thread are as many apart as there are threads: that is found once in rows and planes, for divisions take longer than a cell.
    const int step_x = (int)(stride % grid.nx), step_y = (int)(stride / grid.nx % grid.ny), step_z = (int)(stride / grid.nx / grid.ny);
    int x = (int)((first + t) % grid.nx), y = (int)((first + t) / grid.nx % grid.ny), z = (int)((first + t) / grid.nx / grid.ny);
    double total = value_at(grid, x, y, z);
    for (long long i = first + t + stride; i < cells; i += stride) {
      const int row = x >= grid.nx - step_x, plane = y >= grid.ny - step_y - row; // beyond the end of one
      x += step_x - row * grid.nx, y += step_y + row - plane * grid.ny, z += step_z + plane;
      total = combine(total, value_at(grid, x, y, z));
    }
    partial[t] = total;
  }
  const int have = cells - first < THREADS ? (int)(cells - first) : THREADS; // threads that have a number
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && t + half < have) partial[t] = combine(partial[t], partial[t + half]);
  }
  if (t == 0) ((double *)out.field[0])[blockIdx.x] = partial[0];
}
