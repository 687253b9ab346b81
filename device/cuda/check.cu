// Helpers of the checks, compiled once a GPU: the random start grid and the
// comparison of every cell. T is the element type.

// Element i of the array is element base + i of all that a run starts from.
extern "C" __global__ void fill_input(T *out, unsigned long long n, unsigned long long base, unsigned seed, double low, double step, double quantum) {
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    out[i] = input_value<T>(seed, base + i, low, step, quantum);
}

struct Report {
  unsigned long long wrong;     // cells beyond the tolerance, or not a number
  unsigned long long first;     // index of the first of them
  unsigned long long max_error; // bits of the largest finite difference, a double
  unsigned long long peak;      // bits of the largest finite value wanted, without its sign
};

extern "C" __global__ void compare_cells(const T *got, const T *want, unsigned long long n, double tolerance, Report *r) {
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  double largest = 0, peak = 0;
  unsigned long long wrong = 0, first = ~0ull;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const double g = got[i], w = want[i];
    const double d = g > w ? g - w : w - g, size = w < 0 ? -w : w;
    if (size < 1e300) peak = size > peak ? size : peak;
    if (d <= tolerance || g == w) {
      largest = d > largest ? d : largest;
    } else {
      wrong++;
      first = i < first ? i : first;
      if (d < 1e300) largest = d > largest ? d : largest;
    }
  }
  if (wrong) {
    atomicAdd(&r->wrong, wrong);
    atomicMin(&r->first, first);
  }
  // Doubles that are not negative sort like their bits.
  if (largest > 0) atomicMax(&r->max_error, (unsigned long long)__double_as_longlong(largest));
  if (peak > 0) atomicMax(&r->peak, (unsigned long long)__double_as_longlong(peak));
}

// Words of a guard zone that are no longer the pattern.
extern "C" __global__ void count_changed(const unsigned *words, unsigned long long n, unsigned pattern, Report *r) {
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    if (words[i] != pattern) atomicAdd(&r->wrong, 1ull);
}
