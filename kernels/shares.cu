// Planes of a tile.
struct Share {
  int tile, from, to;
};

// The share of a block where workers share the planes of all tiles about equally, each for so many plane steps; none if it ends where it begins. Of no
// block (-1) it tells how many shares there are: fewer than tiles and workers. A share costs rise planes besides its own. Tiles side by side begin at the same plane at the
// same time: what they share comes from L2 then, and memory is read in whole rows. So as many workers as there are tiles take one each, for all their plane
// steps. The workers that are left take the rest of as many tiles to the end, and so on with what they leave: Euclid's algorithm. Blocks come in
// the order in which workers are free.
__device__ __forceinline__ Share share_of(int block, int tiles, int planes, int workers, int rise, int steps, int *shares) {
  int tile = 0, plane = 0;
  for (*shares = 0;;) {
    const int left = planes - plane, here = block - *shares;
    if (tiles > workers) { // whole rounds
      const int rounds = (tiles - 1) / workers, taken = rounds * workers;
      if (here >= 0 && here < taken) return {tile + here, plane, planes};
      *shares += taken;
      tile += taken, tiles -= taken;
      steps -= rounds * (left + rise);
      continue;
    }
    const int take = max(steps - rise, 0), each = workers / tiles;
    if (tiles == workers || take < rise || left - each * take <= rise) { // or shares would be short: equal parts
      const int part = here / tiles;
      *shares += each * tiles;
      if (here < 0 || part >= each) return {0, 0, 0};
      return {tile + here % tiles, plane + left * part / each, plane + left * (part + 1) / each};
    }
    if (here >= 0 && here < tiles) return {tile + here, plane, plane + take};
    *shares += tiles;
    workers -= tiles;
    plane += take;
  }
}

// The share of this block: a launch has a block for each tile and each worker.
__device__ __forceinline__ Share own_share(int tiles, int planes, int rise) {
  const int workers = gridDim.x - tiles;
  int shares;
  share_of(-1, tiles, planes, workers, rise, ceil_div(tiles * planes, workers) + rise, &shares);
  return share_of(blockIdx.x, tiles, planes, workers, rise, ceil_div(tiles * planes + shares * rise, workers), &shares);
}
