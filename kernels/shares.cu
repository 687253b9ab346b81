// Planes of a tile.
struct Share {
  int tile, from, to;
};

// The share of a block where workers, as many blocks as run at once, share the planes of all tiles about equally, each for so many plane steps; none if it
// ends where it begins. A share costs rise planes besides its own. Tiles side by side begin at the same plane at the same time: what they share comes from L2
// then, and memory is read in whole rows. So as many workers as there are tiles take one each, for all their plane steps. The workers that are
// left take the rest of as many tiles to the end, and so on with what they leave: Euclid's algorithm. Blocks come in the order in which workers are free.
__device__ __forceinline__ Share share_of(int block, int most, int tiles, int planes, int workers, int rise, int steps, int *shares) {
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
    const int take = max(steps - rise, 0);
    if (tiles == workers || take < rise || left - take <= rise || *shares + 2 * tiles + workers > most) { // or shares would be short, or too many
      const int each = workers / tiles, part = here / tiles;
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

// The share of this block, of as many as there are tiles and SPARE for each worker.
__device__ __forceinline__ Share own_share(int tiles, int planes, int rise) {
  const int most = gridDim.x, workers = (most - tiles) / SPARE;
  int shares;
  share_of(-1, most, tiles, planes, workers, rise, ceil_div(tiles * planes, workers) + rise, &shares);
  return share_of(blockIdx.x, most, tiles, planes, workers, rise, ceil_div(tiles * planes + shares * rise, workers), &shares);
}
