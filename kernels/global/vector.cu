// Family global with vectors: a thread computes VECTOR consecutive cells of a row,
// in WORK_Y x WORK_Z rows. It loads its part of a row with one vector load, or two
// where 16 bytes do not hold it, and the stencil's radius on either side cell by
// cell; whatever its cells share stays in registers. Rows begin on a vector's border
// only if the vector width divides them: otherwise the launch takes a scalar path.

// What one load of a number of bytes moves.
template <int BYTES> struct WordOf;
template <> struct WordOf<2> { typedef unsigned short type; };
template <> struct WordOf<4> { typedef unsigned type; };
template <> struct WordOf<8> { typedef uint2 type; };
template <> struct WordOf<16> { typedef uint4 type; };

constexpr int LANES = VECTOR * sizeof(T) <= 16 ? VECTOR : (int)(16 / sizeof(T)); // cells of one load
typedef WordOf<LANES * (int)sizeof(T)>::type Word;

constexpr int WRITE_X = GROUP_X * VECTOR, WRITE_Y = GROUP_Y * WORK_Y, WRITE_Z = GROUP_Z * WORK_Z;
constexpr int READ_X = VECTOR + LOW_X + HIGH_X; // of a row, by one thread
constexpr int READ_Y = WORK_Y + LOW_Y + HIGH_Y, READ_Z = WORK_Z + LOW_Z + HIGH_Z;

// The rows of an array that a thread reads.
struct Rows {
  T at[READ_Z][READ_Y][READ_X];
};

// Loads cells x - BEFORE .. x + VECTOR + AFTER of row (y, z) of an array. ALIGNED rows hold
// whole vectors, so that x lies inside unless the thread has nothing to write.
template <bool EDGE, bool ALIGNED, int BEFORE, int AFTER>
__device__ __forceinline__ void load_row(const Grid &grid, int array, T (&to)[READ_X], int x, int y, int z) {
  const int iy = EDGE ? boundary_index<1>(array, y, grid.ny) : y, iz = EDGE ? boundary_index<2>(array, z, grid.nz) : z;
  const Reader row = grid.in[array] + cell_index(grid, 0, iy, iz);
#pragma unroll
  for (int i = -BEFORE; i < VECTOR + AFTER; i++) {
    if (ALIGNED && i >= 0 && i < VECTOR) continue;
    to[LOW_X + i] = row[EDGE ? boundary_index<0>(array, x + i, grid.nx) : x + i];
  }
  if (ALIGNED) {
    const int own = EDGE ? min(x, grid.nx - VECTOR) : x;
#pragma unroll
    for (int part = 0; part < VECTOR / LANES; part++) {
      const Word word = (row + own).as<Word>(part);
      const T *lane = reinterpret_cast<const T *>(&word);
#pragma unroll
      for (int i = 0; i < LANES; i++) to[LOW_X + part * LANES + i] = lane[i];
    }
  }
  if (EDGE) {
#pragma unroll
    for (int i = -BEFORE; i < VECTOR + AFTER; i++) to[LOW_X + i] = boundary_value(grid, array, to[LOW_X + i], x + i, y, z, grid.iteration);
  }
}

@ROWS@

template <bool EDGE, bool ALIGNED>
__device__ __forceinline__ void block(const Grid &grid, const Out &out, Position first) {
  const int x = first.x + threadIdx.x * VECTOR;
  const int y = first.y + threadIdx.y * WORK_Y;
  const int z = first.z + threadIdx.z * WORK_Z;
  Rows rows[ARRAYS];
  load_rows<EDGE, ALIGNED>(grid, rows, x, y, z);
  // Stages that are fused find cells at the grid's edge by run-time indices: there a loop does,
  // for compilers take ten seconds over its copies.
  constexpr int UNROLL = EDGE && PARTS > 1 ? 1 : 32;
#pragma unroll UNROLL
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll UNROLL
    for (int j = 0; j < WORK_Y; j++) {
      Cell value[VECTOR];
#pragma unroll UNROLL
      for (int i = 0; i < VECTOR; i++)
        value[i] = cell<EDGE>(grid, x + i, y + j, z + k, grid.iteration,
                              [&](int array, int dx, int dy, int dz) { return rows[array].at[k + LOW_Z + dz][j + LOW_Y + dy][i + LOW_X + dx]; });
      if (EDGE && (y + j >= grid.ny || z + k >= grid.nz)) continue;
      if (ALIGNED && EDGE && x >= grid.nx) continue; NUMBERS(out.count_row<ALIGNED>(grid, x, y + j, z + k, value);)
#pragma unroll
      for (int o = 0; o < OUTPUTS; o++) {
        const Writer row = out.field[o] + cell_index(grid, 0, y + j, z + k);
        if (ALIGNED) {
#pragma unroll
          for (int part = 0; part < VECTOR / LANES; part++) {
            Word word;
            T *lane = reinterpret_cast<T *>(&word);
#pragma unroll
            for (int i = 0; i < LANES; i++) lane[i] = value[part * LANES + i].at[o];
            (row + x).put(part, word);
          }
        } else {
#pragma unroll
          for (int i = 0; i < VECTOR; i++)
            if (x + i < grid.nx) row[x + i] = value[i].at[o];
        }
      }
    }
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y *GROUP_Z) ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  const Grid grid = GRID;
  const Out out = OUT;
  Position first = block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / WRITE_X, ZIGZAG>(grid.nx, grid.ny, grid.nz);
  first.x *= WRITE_X;
  first.y *= WRITE_Y;
  first.z *= WRITE_Z;
  size_t addresses = 0;
#pragma unroll
  for (int a = 0; a < ARRAYS; a++) addresses |= (size_t)grid.in[a];
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) addresses |= (size_t)out.field[o];
  const bool aligned = (grid.nx | grid.ldx) % VECTOR == 0 && addresses % sizeof(Word) == 0;
  const bool inside = first.x >= LOW_X && first.x + WRITE_X + HIGH_X + RIM_X <= grid.nx && first.y >= LOW_Y &&
                      first.y + WRITE_Y + HIGH_Y + RIM_Y <= grid.ny && first.z >= LOW_Z && first.z + WRITE_Z + HIGH_Z + RIM_Z <= grid.nz;
  if (!aligned)
    block<true, false>(grid, out, first) NUMBERS(, out.leave());
  else if (inside)
    block<false, true>(grid, out, first) NUMBERS(, out.leave());
  else
    block<true, true>(grid, out, first) NUMBERS(, out.leave());
}
