
// A tile is at the grid's edge if so few cells of an axis lie beyond it. Cells there may keep their value, and where axes mirror more do than are
// read beyond a cell: then what is loaded beside the tile does not tell.
constexpr int NEAR_LX = some(FIXED) && LOW_X > 1 ? LOW_X : 1, NEAR_HX = some(FIXED) && HIGH_X > 1 ? HIGH_X : 1;
constexpr int NEAR_LR = DIMS == 3 && some(FIXED) && LOW_Y > 1 ? LOW_Y : 1, NEAR_HR = DIMS == 3 && some(FIXED) && HIGH_Y > 1 ? HIGH_Y : 1;

// Streams planes begin .. end - 1 through a tile: the tx-th on x and, in 3D, the ty-th on rows.
__device__ __forceinline__ void stream_planes(const Grid &grid, const Out &out, int tx, int ty, int begin, int end, unsigned char *shared) {
  const int lane = threadIdx.x, band = threadIdx.y, nx = grid.nx, ny = grid.ny, ldx = grid.ldx, ldy = grid.ldy;
  Place at{grid};
  at.nx = nx;
  at.ny = ny;
  at.planes = DIMS == 3 ? grid.nz : DIMS == 2 ? ny : 1;
  at.stride = DIMS == 3 ? (index_t)ldx * ldy : ldx;
  at.begin = begin;
  at.end = end;
  const Window x = window<0>(tx, nx, TILE_X, STEP_X, HALO_LX, UNIT);
  at.x = x.origin + lane * VECTOR;
  at.low_x = !wraps(0) && at.x == 0;
  at.high_x = !wraps(0) && at.x + VECTOR == nx;
  at.parts = 0;
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const int cell = COALESCED_STORES ? at.x - coalesced_offset() + i * PART_STRIDE : at.x + i;
    at.parts |= (unsigned)(cell >= x.first && cell < x.last) << i;
  }
  TURNS(
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const int cell = at.x - coalesced_offset() + i * PART_STRIDE;
    at.turns[i / PART] = boundary_index<0>(0, cell, nx) - cell;
  })
  at.swap = reinterpret_cast<T *>(shared + SWAP) + (COALESCED_STORES ? band * LANES * VECTOR : 0);
  at.edge = !wraps(0) && (x.origin < max(SIDE_L, NEAR_LX) || x.origin + TILE_X > nx - max(SIDE_H, NEAR_HX) - RIM_X * (2 * HIGH_X + 1));
  int row = 0;
  at.writes = 1;
  at.own = (EXTRA_LR + band * ROWS) * PITCH + LOW_SIDE + lane;
  if (DIMS == 3) {
    const Window y = window<1>(ty, ny, TILE_R, STEP_R, HALO_LR);
    row = y.origin + band * ROWS;
#pragma unroll
    for (int k = 0; k < (EXTRA > 0 ? EXTRA_EACH : 0); k++) {
      const int e = band + k * BANDS, r = e < EXTRA_LR ? e - EXTRA_LR : TILE_R + e - EXTRA_LR; // a row of the tile
      at.extra[k] = (index_t)(stored_index<1>(y.origin + r, ny) - (WRAPS_ROWS ? 0 : row)) * ldx;
      at.extra_at[k] = e < EXTRA ? (r - band * ROWS) * PITCH : 0;
    }
    at.writes = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.writes |= (unsigned)(row + j >= y.first && row + j < y.last) << j;
    at.edge = at.edge || ((EDGES_ON_ROWS || RIM_Y > 0) && (y.origin < max(EXTRA_LR, NEAR_LR) || y.origin + TILE_R > ny - max(EXTRA_HR, NEAR_HR) - RIM_Y * (2 * HIGH_Y + 1)));
  }
  if (PART == VECTOR && at.parts == 0) at.writes = 0;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(at.writes), "+r"(at.parts)); // the compiler would rather find them out anew in every plane step
#endif
  at.given = band * EDGE_ROWS * LANES + lane;
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) {
    // A row above the tile's first is by the boundary rule another of the tile: at the
    // grid's edge that is right, elsewhere it is a halo that is not used any more.
    const int wanted = band * ROWS + (r < LOW_R ? r - LOW_R : ROWS + r - LOW_R), neighbour = stored_index<1>(wanted, TILE_R);
    const int of = neighbour / ROWS, j = neighbour - of * ROWS;
    at.near[r] = (EXTRA_LR + (wanted >= -EXTRA_LR && wanted < TILE_R + EXTRA_HR ? wanted : neighbour)) * PITCH + LOW_SIDE + lane;
    at.other[r] = (of * EDGE_ROWS + edge_row(j)) * LANES + lane;
    APART(// Of arrays that are mirrored: a row of the tile beyond the grid's edge is another of the tile. One that a tile near the edge does not hold is not used.
    const int outside = row - band * ROWS + wanted, in_tile = DIMS < 3 || (outside >= 0 && outside < ny) ? neighbour : mirrored(outside, ny) - (outside - wanted);
    const int held = clamp_index(in_tile, TILE_R);
    at.mirrored_near[r] = outside >= 0 && outside < ny ? at.near[r] : clamp_index(EXTRA_LR + in_tile, EXTRA_LR + TILE_R + EXTRA_HR) * PITCH + LOW_SIDE + lane;
    at.mirrored_other[r] = (held / ROWS * EDGE_ROWS + edge_row(held % ROWS)) * LANES + lane;)
  }
  at.y = row;
  const index_t own = WRAPS_ROWS ? (index_t)boundary_index<0>(0, at.x, nx) : (index_t)row * ldx + at.x;
#pragma unroll
  for (int k = 0; k < (SIDES > 0 ? SIDE_EACH : 0); k++) {
    const int n = lane + k * LANES, of = n / max(SIDES, 1), c = n - of * SIDES, e = band + (of - ROWS) * BANDS;
    const int r = of < ROWS ? band * ROWS + of : e < EXTRA_LR ? e - EXTRA_LR : TILE_R + e - EXTRA_LR; // a row of the tile
    const int i = c < SIDE_L ? c - SIDE_L : TILE_X + c - SIDE_L;                                     // and a cell of that
    const bool any = of < ROWS || (of < ROWS + EXTRA_EACH && e < EXTRA);
    at.side[k] = (DIMS == 3 ? (index_t)stored_index<1>(row - band * ROWS + r, ny) * ldx : 0) + stored_index<0>(x.origin + i, nx) - own + coalesced_offset();
    at.side_at[k] = any ? (((EXTRA_LR + r) * PITCH + LOW_SIDE) * VECTOR + i - at.own * VECTOR + coalesced_offset()) * SIDE_UNIT : 0;
  }
  if (WRAPS_ROWS) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.rows[WRAPS_ROWS ? j : 0] = (index_t)boundary_index<1>(0, row + j, ny) * ldx;
  }
  Pipeline pipeline(at, own, out, shared);
  pipeline.run();
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const Grid grid = GRID;
  const Out out = OUT;
  const int planes = TO_PLANE(DIMS == 3 ? nz : DIMS == 2 ? ny : 1);
  STREAM_TILES(const int stream_tile = ceil_div(planes - from_plane, gridDim.z), begin = from_plane + blockIdx.z * stream_tile;
  if (begin >= planes) return NUMBERS(out.leave()); // more stream tiles than planes
  // In 2D warps have tiles of their own, next to each other along x.
  const int tile = DIMS == 3 || WARPS == 1 ? blockIdx.x : blockIdx.x * WARPS + threadIdx.y;
  if (DIMS < 3 && tile >= tiles<0>(nx, TILE_X, STEP_X)) return NUMBERS(out.leave());
  stream_planes(grid, out, tile, blockIdx.y, begin, min(begin + stream_tile, planes), shared_bytes) NUMBERS(, out.leave());)
  SHARES(const int across = tiles<0>(nx, TILE_X, STEP_X);
  const Share own = own_share(across * tiles<1>(ny, TILE_R, STEP_R), planes - from_plane, RISE);
  if (own.from == own.to) return NUMBERS(out.leave());
  stream_planes(grid, out, own.tile % across, own.tile / across, from_plane + own.from, from_plane + own.to, shared_bytes) NUMBERS(, out.leave());)
}
