__device__ __forceinline__ void store(const Cells &v, const Writer &__restrict__ plane, const Place &at) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!(at.writes >> j & 1)) continue;
    const Writer row = plane + row_offset(at, j);
#pragma unroll
    for (int i = 0; i < VECTOR; i += PART) {
      if (PART < VECTOR && !(at.parts >> i & 1)) continue;
      Part part;
#pragma unroll
      for (int k = 0; k < PART; k++) part.at[k] = v[j][i + k];
      keep_part(row + i * part_stride(COALESCED_STORES), part);
    }
  }
}

HELD{{// Stores a plane that is held as it arrives, or another when it is complete: held planes go through the stages as multiples, and are rounded. Cell by cell, near
// the grid's first and last planes alone. (at.holds is false here, which compilers do not know within the loop, for flags hides it; what they make of the
// branch that nobody takes is faster: docs/lab/0068-held-cells-and-memory.md.)
template <bool ENDS, bool ARRIVED> __device__ __forceinline__ void store_some(const Cells &v, Writer plane, int p, const Place &at) {
  const bool whole = ENDS && held_plane(at, p);
  if (ARRIVED && (!whole && !at.holds || p < at.begin || p >= at.end)) return;
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
    if (!(at.writes >> j & 1)) continue;
    const Writer row = plane + row_offset(at, j);
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
      if (PART < VECTOR && !(at.parts >> i / PART * PART & 1)) continue;
      if (whole == ARRIVED) row[i] = v[j][i];
    }
  }
}

}}HELD// A thread's way along the streaming axis, over the planes of its block.
struct Streaming {
  const Place &at;
  Reader source[ARRAYS];         // own column of the plane that is loaded next
  Writer written[OUTPUTS];             // own column of the plane that is written next
  int plane;                       // which one that is, where the grid repeats
  Meeting meeting;
  Edges edges;
  Stage stage[PYRAMID];
  Prefetch prefetch; // planes on their way, not yet arrived

  // own is the element of plane 0 at which the thread's cells begin.
  __device__ __forceinline__ Streaming(const Place &place, index_t own, const Out &out, unsigned char *shared)
      : at(place), meeting(shared), edges{reinterpret_cast<Shared *>(shared + Meeting::BYTES), 0}, prefetch(edges.ring) {
    APRON{{prefetch.find_apron(at.y, at.grid.ny);}}APRON
    const int halo = at.begin - PYRAMID * LOW_S, from = ENDLESS ? halo : max(halo, 0);
    plane = boundary_index<DIMS - 1>(0, from, at.planes);
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) source[a] = at.grid.in[a] + (own - coalesced_offset(COALESCED)) + plane * at.stride;
    if (IMAGES) plane = image_from(from, at.planes);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) written[o] = out.field[o] + (own - coalesced_offset(COALESCED_STORES)) + at.begin * at.stride;
#pragma unroll
    for (int s = 0; s < PYRAMID; s++) {
      stage[s].clear();
      for (int slot = 0; CONSTANT_ROW && slot < RING && threadIdx.y == 0; slot++)
        for (int side = 0; side < 2; side++)
        for (int i = 0; i < WORDS; i++) edges.ring[(slot * PYRAMID + s) * Edges::STAGE + Edges::ROW + side * LANES + threadIdx.x].at[i] = outside_cell(s).at[1][side];
    }
#pragma unroll
    for (int f = 0; f < PREFETCH; f++) fetch(f * Prefetch::PLANE, from + f);
    if (SHARED_ROWS > 0 && !LATE) meeting.arrive();
    const int last = at.end - 1 + HIGH_S + (PYRAMID - 1) * LAG; // when plane end - 1 is complete
    for (int p = from; p <= last;) {
      // Plane p arrives at the first stage, p - LAG at the second and so on. While
      // none of them is near the grid's first or last plane, plane steps go UNROLL at a
      // time: then what the stages keep changes places by name, without moves.
      const bool settled = ENDLESS || (p - (PYRAMID - 1) * LAG >= SETTLED && p + UNROLL + (ENDING - 1) < at.planes);
      if (settled && p + UNROLL - 1 <= last) {
        if (WITHIN && at.within)
          plane_steps<true>(p);
        else
          plane_steps<false>(p);
        p += UNROLL;
      } else {
        advance<!ENDLESS>(p++, at);
      }
    }
  }

  // UNROLL plane steps, of which none meets the grid's first or last plane, nor (INNER) ends of rows.
  template <bool INNER>
  __device__ __forceinline__ void plane_steps(int p) {
    Place place = at;
    if (INNER) {
      place.low_x = place.high_x = place.holds = false;
    } else if (DIMS == 3 && HOLDS) { // each in a register of its own would push others out
      unsigned flags = at.flags;
#ifdef __CUDA_ARCH__
      asm volatile("" : "+r"(flags));
#endif
      place.low_x = flags & 1;
      place.high_x = flags & 2;
      place.low_row = flags & 4;
      place.high_row = flags & 8;
      place.holds = flags & 16;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) advance<false>(p + u, place);
  }

  __device__ __forceinline__ void fetch(int f, int p) {
#pragma unroll
    for (int a = 0; a < ARRAYS; a++) {
      if (!reads(a)) continue;
      prefetch.load(f, a, source[a], at);
      if (IMAGES) source[a] += plane < 0 ? -at.stride : at.stride;
      else if (wraps(DIMS - 1))
        source[a] += plane == at.planes - 1 ? -plane * at.stride : at.stride;
      else if (p < at.planes - 1)
        source[a] += at.stride;
    }
    prefetch.loaded();
    if (IMAGES) plane = plane == at.planes - 2 ? 1 - at.planes : plane + 1;
    else if (wraps(DIMS - 1)) plane = plane == at.planes - 1 ? 0 : plane + 1;
  }

  // A plane step: plane p arrives, and one plane further back at every stage.
  template <bool ENDS>
  __device__ __forceinline__ void advance(int p, const Place &at) {
    Cells arrived[ARRAYS];
    LaneHalo lane_halo;
    APRON{{const Vector *plane = prefetch.beside();}}APRON
    fetch(prefetch.take(arrived, lane_halo), p + PREFETCH);
    HELD{{store_some<ENDS, true>(arrived[0], written[0] + min((PYRAMID - 1) * LAG + HIGH_S, p - at.begin) * at.stride, p, at);}}HELD
    // A stage takes the plane that the one before has just completed; if that
    // waits for other bands' rows, the one of the last plane step: backwards then.
    const auto taken = [&](int s) -> const Cells (&)[ARRAYS] { return s > 0 ? stage[s > 0 ? s - 1 : 0].done : arrived; };
    const auto give_rows = [&](int s) {
      if (APRON == 0 || s > 0) give<ENDS>(taken(s), p - s * LAG, at, edges.of(s));
    };
    const auto join_rows = [&](int s) {
      join<ENDS>(stage[s], s, at.grid.iteration + s, p - AGO - s * LAG, at, edges.of(s) APRON{{, plane}}APRON);
    };
    if (LATE && SPLIT) {
      each<PYRAMID>(give_rows);
      meeting.arrive();
    }
    if (SHARED_ROWS > 0 && !LATE && AGO == 0) meeting.wait(); // stages that keep planes read other bands' rows at once
#pragma unroll
    for (int k = 0; k < PYRAMID; k++) {
      const int s = LATE ? PYRAMID - 1 - k : k;
      if (EARLY) {
        give_rows(s);
        if (s == PYRAMID - 1) meeting.arrive();
      }
      AGAIN{{if (s == 0) prefetch.again(stage[s].sum[OPEN - 1]);}}AGAIN
      arrive<ENDS>(stage[s], taken(s), lane_halo, s, at.grid.iteration + s, p - s * LAG, at, edges.of(s));
      if (AGO > 0) {
        if (s == 0) meeting.wait();
        join_rows(s);
      }
      if (SHARED_ROWS > 0 && !LATE && !EARLY) give_rows(s);
    }
    if constexpr (SHARED_ROWS > 0) {
      if (LATE) {
        meeting.wait();
        each<PYRAMID>(join_rows);
        if constexpr (RETAKEN) {
          Real growth = 1;
          each<PYRAMID - 1>([&](int s) { // the last stage's are written as they arrived
            growth = growth * GROWTH;
            prefetch.as_arrived<ENDS>(0, p - s * LAG - HIGH_S, s * LAG + HIGH_S, growth, stage[s].done[0], at);
          });
        }
      } else if (!EARLY) {
        meeting.arrive();
      }
      edges.slot = edges.slot + 1 < RING ? edges.slot + 1 : 0;
    }
    const int complete = p - (PYRAMID - 1) * LAG - HIGH_S;
    if (complete >= at.begin && complete < at.end) {
#pragma unroll
      for (int f = 0; f < FIELDS; f++) {
        if (output_of(f) < 0) continue;
        Cells result;
#pragma unroll
        for (int j = 0; j < ROWS; j++)
#pragma unroll
          for (int i = 0; i < WORDS; i++) result[j][i] = SCALE * stage[PYRAMID - 1].done[f][j][i];
        if (KEPT > 0) prefetch.as_arrived<ENDS>(f, complete, KEPT - 1, 1, result, at);
        if constexpr (COALESCED_STORES) prefetch.coalesce(output_of(f), result);
        HELD{{if (ENDS || at.holds)
          store_some<ENDS, false>(result, written[output_of(f)], complete, at);
        else}}HELD
        store(result, written[output_of(f)], at);
        written[output_of(f)] += at.stride;
      }
    }
  }
};

// Held cells went through the stages as multiples, and were rounded. Where shared memory does not keep them as they arrived, a warp copies
// those of its tile once it is written. (Never in 3D.)
__device__ __forceinline__ void copy_held(const Place &at, const Out &out, const Window &x) {
#pragma unroll 1
  for (int side = 0; side < 4; side++) { // the cells of it that the tile writes are a box
    __syncwarp(); // a corner belongs to two
    int x0 = x.first, x1 = x.last, from = at.begin, to = at.end;
    if (side == 0) x1 = min(x1, HELD_LX);
    if (side == 1) x0 = max(x0, at.nx - HELD_HX);
    if (side == 2) to = min(to, HELD_LS);
    if (side == 3) from = max(from, at.planes - HELD_HS);
    if (x0 >= x1 || from >= to) continue;
    const int width = x1 - x0, cells = width * (to - from);
    constexpr int BATCH = 8; // loads on their way
    for (int i = threadIdx.x; i < cells; i += BATCH * 32) {
      T value[BATCH];
      index_t cell[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; k++) {
        const int c = min(i + k * 32, cells - 1);
        cell[k] = (from + c / width) * at.stride + x0 + c % width;
        value[k] = at.grid.in[0][cell[k]];
      }
#pragma unroll
      for (int k = 0; k < BATCH; k++)
        if (i + k * 32 < cells) out.field[0][cell[k]] = value[k];
    }
  }
}

// Whether on x a tile lies within the grid, and none of its cells is held but by its plane.
__device__ __forceinline__ bool lies_within(const Window &x, const Window &y, int nx, int ny) {
  bool within = x.origin > 0 && x.origin + TILE_X < nx;
  if (HOLDS) {
    within = within && x.origin >= HELD_LX && x.origin + TILE_X <= nx - HELD_HX;
    if (DIMS == 3) within = within && y.origin >= HELD_LR && y.origin + TILE_R <= ny - HELD_HR;
  }
  return within;
}

// Streams planes begin .. end - 1 through a tile: the tx-th on x and, in 3D, the ty-th on rows. INNER says that it lies within the grid.
// (Each kind finds out its place by itself: a place that both share takes registers which the loops then spill.)
template <bool INNER>
__device__ __forceinline__ void stream_planes(const Grid &grid, const Out &out, int tx, int ty, int begin, int end, unsigned char *shared) {
  const int lane = threadIdx.x, band = threadIdx.y, nx = grid.nx, ny = grid.ny, ldx = grid.ldx, ldy = grid.ldy;
  Place at{grid};
  at.nx = nx;
  at.planes = DIMS == 3 ? grid.nz : ny;
  at.stride = DIMS == 3 ? (index_t)ldx * ldy : ldx;
  at.begin = begin;
  at.end = end;
  const Window x = window<0>(tx, nx, TILE_X, STEP_X, HALO_LX, UNIT);
  at.x = x.origin + lane * VECTOR;
  at.low_x = !wraps(0) && (LANE_HALO > 0 ? lane == 0 : at.x == 0);
  at.high_x = !wraps(0) && (LANE_HALO > 0 ? lane == LANES - 1 : at.x + VECTOR == nx);
  at.parts = 0;
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const int cell = at.x - coalesced_offset(COALESCED_STORES) + i * part_stride(COALESCED_STORES);
    at.parts |= (unsigned)(cell >= x.first && cell < x.last) << i;
  }
  TURNS(
#pragma unroll
  for (int i = 0; i < VECTOR; i += PART) {
    const int cell = at.x - coalesced_offset(COALESCED) + i * part_stride(COALESCED);
    at.turns[i / PART] = boundary_index<0>(0, cell, nx) - cell;
  })
  int row = 0;
  at.writes = 1;
  Window y = {0, 0, 1};
  if (DIMS == 3) {
    y = window<1>(ty, ny, TILE_R, STEP_R, HALO_LR);
    row = y.origin + band * ROWS;
    at.writes = 0;
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.writes |= (unsigned)(row + j >= y.first && row + j < y.last) << j;
  }
  if (PART == VECTOR && at.parts == 0) at.writes = 0;
#ifdef __CUDA_ARCH__
  asm("" : "+r"(at.writes), "+r"(at.parts)); // the compiler would rather find them out anew in every plane step
#endif
  at.own = band * EDGE_ROWS * LANES + lane;
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) {
    // A row above the tile's first is by the boundary rule another of the tile: at the
    // grid's edge that is right, elsewhere it is a halo that is not used any more.
    const int away = r < LOW_R ? r - LOW_R : ROWS + r - LOW_R;
    const int neighbour = boundary_index<1>(0, band * ROWS + away, TILE_R);
    const int of = neighbour / ROWS;
    int j = neighbour - of * ROWS;
    if (MIRRORED_ROWS && mirrors(1, 0) && band * ROWS + away < 0) j--;
    if (MIRRORED_ROWS && mirrors(1, 1) && band * ROWS + away >= TILE_R) j++;
    at.other[r] = (of * EDGE_ROWS + edge_row(j)) * LANES + lane;
    if (CONSTANT_ROW && (row + away < 0 && gives(1, 0) || row + away >= ny && gives(1, 1))) at.other[r] = Edges::ROW + (row + away < 0 ? 0 : LANES) + lane;
  }
  APRON{{
#ifdef __CUDA_ARCH__
#pragma unroll
  for (int r = 0; r < SHARED_ROWS; r++) asm("" : "+r"(at.other[r])); // else found out anew in every plane step, too
#endif}}APRON
  at.y = row;
  at.low_row = DIMS == 3 && row == 0;
  at.high_row = DIMS == 3 && row + ROWS == ny;
  if (WRAPS_ROWS) {
#pragma unroll
    for (int j = 0; j < ROWS; j++) at.rows[WRAPS_ROWS ? j : 0] = (index_t)boundary_index<1>(0, row + j, ny) * ldx;
  }
  const index_t own = WRAPS_ROWS ? (index_t)boundary_index<0>(0, at.x, nx) : (index_t)row * ldx + at.x;
  at.within = lies_within(x, y, nx, ny);
  at.holds = HELD_LX + HELD_HX + HELD_LR + HELD_HR > 0;
  if (SIDES && KEPT > 0) {
    bool some = false;
    each<ROWS * VECTOR>([&](int k) { some |= held_cell(at, k / VECTOR, k % VECTOR); });
    at.holds = some;
  }
  if (INNER) at.low_x = at.high_x = at.holds = false;
  at.flags = (unsigned)at.low_x | (unsigned)at.high_x << 1 | (unsigned)at.low_row << 2 | (unsigned)at.high_row << 3 | (unsigned)at.holds << 4;
  Streaming(at, own, out, shared);
  if constexpr (DIMS < 3 && HOLDS && SCALE != 1 && KEPT == 0) copy_held(at, out, x);
}

STREAM_TILES(struct StreamTile {
  int tile, number, of; // on x; which of so many stream tiles of it
};

// What a block of a line along x has to do. Two SMs share an instruction cache that is too
// small for both kinds of plane steps, and blocks that start one after the other run on them
// (docs/lab/0018-instruction-caches.md): so tiles at the ends of rows come together, and every other line backwards.
// Tiles at the ends of rows take longer where they are streamed through apart: two tiles have three columns of blocks then, and shorter stream tiles.
__device__ __forceinline__ StreamTile in_order(int line, int tiles) {
  const int i = blockIdx.x, z = blockIdx.z, all = gridDim.z;
  if (!WITHIN && !APART) return {DIMS == 3 ? i : i * WARPS + (int)threadIdx.y, z, all};
  const int n = gridDim.x, k = line % 2 ? n - 1 - i : i, two = min(tiles, 2), columns = n - tiles + two;
  if (k >= columns) return {k - columns + 1, z, all};
  if (!APART) return {k * (tiles - 1), z, all};
  const int part = k * all + z, end = part % two;
  return {end * (tiles - 1), part / two, (columns * all - end + two - 1) / two};
})

extern "C" __global__ void __launch_bounds__(32 * WARPS, MIN_BLOCKS)
    ENTRY(PARAMETERS) {
  if (await_launch(nx)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const Grid grid = GRID;
  const Out out = OUT;
  const int planes = TO_PLANE(DIMS == 3 ? nz : ny);
  STREAM_TILES(// In 2D warps have tiles of their own, next to each other along x.
  const int across = tiles<0>(nx, TILE_X, STEP_X);
  const StreamTile own = in_order(blockIdx.y + blockIdx.z * gridDim.y, across);
  const int stream_tile = ceil_div(planes - from_plane, own.of), begin = from_plane + own.number * stream_tile;
  if (begin >= planes || (DIMS < 3 && own.tile >= across)) return; // more stream tiles than planes, or warps than tiles
  const int end = min(begin + stream_tile, planes);
  const Window x = window<0>(own.tile, nx, TILE_X, STEP_X, HALO_LX, UNIT);
  if (APART && lies_within(x, {}, nx, ny))
    stream_planes<true>(grid, out, own.tile, blockIdx.y, begin, end, shared_bytes);
  else
    stream_planes<false>(grid, out, own.tile, blockIdx.y, begin, end, shared_bytes);)
  SHARES(const int across = tiles<0>(nx, TILE_X, STEP_X);
  const Share own = own_share(across * tiles<1>(ny, TILE_R, STEP_R), planes - from_plane, RISE);
  if (own.from == own.to) return;
  stream_planes<false>(grid, out, own.tile % across, own.tile / across, from_plane + own.from, from_plane + own.to, shared_bytes);)
}
