package stencil

// Input gives the start value of cell i for a seed: uniform on [-1, 1) in steps
// of 2^-23, so exact in every floating-point type. Devices compute the same
// function (InputSource), so no grid is ever sent to them.
func Input(seed uint32, i int64) float64 { return float64(random(seed, i))*0x1p-23 - 1 }

// ones are the 24 bits of an element that may be NaN (Problem.NaN).
const ones = 1<<24 - 1

// random gives 24 bits for element i of a sequence.
func random(seed uint32, i int64) uint32 {
	return mix(uint32(i)^mix(uint32(uint64(i)>>32)+seed)) >> 8
}

// mix is the finaliser of MurmurHash3 (Appleby, public domain): every input bit
// moves every output bit.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return h
}

// SeedFor is a seed under which element i of a sequence, of fewer than 2^32, gets these 24 bits: the last of several that low names.
func SeedFor(i int64, bits, low uint32) uint32 { return unmix(uint32(i) ^ unmix(bits<<8|low&0xff)) }

// SeedForNaN is a seed under which element i is NaN where some are.
func SeedForNaN(i int64, low uint32) uint32 { return SeedFor(i, ones, low) }

// unmix undoes mix.
func unmix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x7ed1b41d // inverses of mix's factors
	h ^= h>>13 ^ h>>26
	h *= 0xa5cb9243
	h ^= h >> 16
	return h
}

// InputSource is the value of element i of all arrays of a run in CUDA C, as
// function input_value<T>(seed, i, low, step, quantum) of an array's Scale. It must be
// compiled without contraction of products and sums.
const InputSource = `__host__ __device__ inline unsigned input_mix(unsigned h) {
  h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
  return h;
}
template <class T> __host__ __device__ inline T input_value(unsigned seed, unsigned long long i, double low, double step, double quantum) {
  const unsigned h = input_mix((unsigned)i ^ input_mix((unsigned)(i >> 32) + seed));
  const double v = (double)(h >> 8) * step;
  if (quantum != quantum) return (T)(h >> 8 == 0xffffff ? quantum : low + v);
  if (quantum != 0) return (T)(low + quantum * (double)(unsigned)v);
  if ((float)(T)0.5f == 0) return (T)(low + (double)(unsigned)v); // an integer type
  return (T)(low + v);
}
`

// Fill gives the whole start grid of n cells.
func Fill(seed uint32, n int64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = Input(seed, int64(i))
	}
	return v
}
