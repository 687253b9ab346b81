
// Fills the halo of a row as halo_x does. A word beyond a vector's end holds one cell of the neighbour lane, or what lies outside
// the grid, and one of the own: that beyond the other half of the vector.
__device__ __forceinline__ void halo_row(Real (&e)[SPAN_X], const Place &at, int low, int high, const Real *, Outside constant) {
#pragma unroll
  for (int k = 1; k <= LOW_X; k++) {
    if (k > low) break;
    const unsigned own = e[LOW_X + WORDS - k].bits;
    unsigned word = across(::__shfl_up_sync(~0u, own, 1), own);
    if (at.low_x) word = given(0, 0) ? across(constant.at[0][0].bits, own) : lower(e[LOW_X + (rule(0, 0, 0) == MIRROR ? k : 0)].bits, own);
    e[LOW_X - k] = Packed(word);
  }
#pragma unroll
  for (int k = 0; k < HIGH_X; k++) {
    if (k >= high) break;
    const unsigned own = e[LOW_X + k].bits;
    unsigned word = across(own, ::__shfl_down_sync(~0u, own, 1));
    if (at.high_x) word = given(0, 1) ? across(own, constant.at[0][1].bits) : upper(own, e[LOW_X + WORDS - 1 - (rule(0, 0, 1) == MIRROR ? k + 1 : 0)].bits);
    e[LOW_X + WORDS + k] = Packed(word);
  }
}
