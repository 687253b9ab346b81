// Family global with vectors: a thread computes VECTOR consecutive cells of a row,
// in WORK_Y x WORK_Z rows. It loads its part of a row with one vector load, or two
// where 16 bytes do not hold it, and the stencil's reach on either side cell by
// cell; whatever its cells share stays in registers. Rows begin on a vector's border
// only if the vector width divides them: otherwise the launch takes a scalar path.

template <class E, int LANES> struct VectorOf;
template <> struct VectorOf<float, 2> { typedef float2 type; };
template <> struct VectorOf<float, 4> { typedef float4 type; };
template <> struct VectorOf<double, 2> { typedef double2 type; };

constexpr int LANES = VECTOR * sizeof(T) <= 16 ? VECTOR : (int)(16 / sizeof(T)); // of one load
typedef VectorOf<T, LANES>::type Vector;

constexpr int WRITE_X = GROUP_X * VECTOR, WRITE_Y = GROUP_Y * WORK_Y, WRITE_Z = GROUP_Z * WORK_Z;
constexpr int READ_X = VECTOR + LOW_X + HIGH_X; // of a row, by one thread
constexpr int READ_Y = WORK_Y + LOW_Y + HIGH_Y, READ_Z = WORK_Z + LOW_Z + HIGH_Z;

// The rows a thread reads. What no cell needs, the compiler does not load.
struct Rows {
  T at[READ_Z][READ_Y][READ_X];
};

// Loads cells x - LOW_X .. x + VECTOR + HIGH_X of a row. A cell outside the grid is
// the nearest one inside; ALIGNED rows hold whole vectors, so that x lies inside
// unless the thread has nothing to write.
template <bool EDGE, bool ALIGNED>
__device__ __forceinline__ void load_row(const T *__restrict__ row, T *to, int x, int nx) {
#pragma unroll
  for (int i = 0; i < READ_X; i++) {
    if (ALIGNED && i >= LOW_X && i < LOW_X + VECTOR) continue;
    const int at = x + i - LOW_X;
    to[i] = __ldg(row + (EDGE ? clamp_index(at, nx) : at));
  }
  if (!ALIGNED) return;
  if (EDGE) x = min(x, nx - VECTOR);
#pragma unroll
  for (int part = 0; part < VECTOR / LANES; part++) {
    const Vector v = __ldg(reinterpret_cast<const Vector *>(row + x) + part);
    const T *lane = reinterpret_cast<const T *>(&v);
#pragma unroll
    for (int i = 0; i < LANES; i++) to[LOW_X + part * LANES + i] = lane[i];
  }
}

template <bool EDGE, bool ALIGNED>
__device__ __forceinline__ void block(const T *__restrict__ in, T *__restrict__ out, Position first, int nx, int ny, int nz) {
  const int x = first.x + threadIdx.x * VECTOR;
  const int y = first.y + threadIdx.y * WORK_Y;
  const int z = first.z + threadIdx.z * WORK_Z;
  Rows rows;
#pragma unroll
  for (int k = 0; k < READ_Z; k++)
#pragma unroll
    for (int j = 0; j < READ_Y; j++) {
      const int ry = EDGE ? clamp_index(y + j - LOW_Y, ny) : y + j - LOW_Y;
      const int rz = EDGE ? clamp_index(z + k - LOW_Z, nz) : z + k - LOW_Z;
      load_row<EDGE, ALIGNED>(in + ((index_t)rz * ny + ry) * nx, rows.at[k][j], x, nx);
    }
#pragma unroll
  for (int k = 0; k < WORK_Z; k++)
#pragma unroll
    for (int j = 0; j < WORK_Y; j++) {
      T value[VECTOR];
#pragma unroll
      for (int i = 0; i < VECTOR; i++)
        value[i] = cell([&](int dx, int dy, int dz) { return rows.at[k + LOW_Z + dz][j + LOW_Y + dy][i + LOW_X + dx]; });
      if (EDGE && (y + j >= ny || z + k >= nz)) continue;
      T *row = out + ((index_t)(z + k) * ny + y + j) * nx;
      if (ALIGNED) {
        if (EDGE && x >= nx) continue;
#pragma unroll
        for (int part = 0; part < VECTOR / LANES; part++) {
          Vector v;
          T *lane = reinterpret_cast<T *>(&v);
#pragma unroll
          for (int i = 0; i < LANES; i++) lane[i] = value[part * LANES + i];
          reinterpret_cast<Vector *>(row + x)[part] = v;
        }
      } else {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
          if (x + i < nx) row[x + i] = value[i];
      }
    }
}

extern "C" __global__ void __launch_bounds__(GROUP_X *GROUP_Y *GROUP_Z)
    ENTRY(const T *__restrict__ in, T *__restrict__ out, int nx, int ny, int nz) {
  Position first = block_tile<WRITE_X, WRITE_Y, WRITE_Z, COLUMN / WRITE_X, ZIGZAG>(nx, ny, nz);
  first.x *= WRITE_X;
  first.y *= WRITE_Y;
  first.z *= WRITE_Z;
  const bool aligned = nx % VECTOR == 0 && ((size_t)in | (size_t)out) % sizeof(Vector) == 0;
  const bool inside = first.x >= LOW_X && first.x + WRITE_X + HIGH_X <= nx && first.y >= LOW_Y &&
                      first.y + WRITE_Y + HIGH_Y <= ny && first.z >= LOW_Z && first.z + WRITE_Z + HIGH_Z <= nz;
  if (!aligned)
    block<true, false>(in, out, first, nx, ny, nz);
  else if (inside)
    block<false, true>(in, out, first, nx, ny, nz);
  else
    block<true, true>(in, out, first, nx, ny, nz);
}
