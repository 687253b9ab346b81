// Arrays of several types: planes of each lie in shared memory as the array is stored.

typedef unsigned char Ring; // shared memory is counted in bytes
template <int K> struct Slab;

__host__ __device__ constexpr int aligned_16(int bytes, int n) { return aligned(bytes, n); }
// Elements of array K of 128 and of 16 bytes, and the bytes of n.
template <int K> __host__ __device__ constexpr int line_of() { return 128 / (int)sizeof(ElemOf<K>); }
template <int K> __host__ __device__ constexpr int quad_of() { return 16 / (int)sizeof(ElemOf<K>); }
template <int K> __host__ __device__ constexpr int units(int n) { return n * (int)sizeof(ElemOf<K>); }
template <int K> __device__ __forceinline__ ElemOf<K> stored_as(T value) { return ElemOf<K>(value); }
template <int K> __device__ __forceinline__ ElemOf<K> *slab_of(Ring *slabs) { return reinterpret_cast<ElemOf<K> *>(slabs + Slab<K>::BEGIN); }

// A vector from element `cell` of array K's slab on.
template <int K, class V = Vector> __device__ __forceinline__ V vector_at(const Ring *slabs, int cell) {
  const VectorOf<ElemOf<K>> stored = *reinterpret_cast<const VectorOf<ElemOf<K>> *>(reinterpret_cast<const ElemOf<K> *>(slabs + Slab<K>::BEGIN) + cell);
  V v;
#pragma unroll
  for (int i = 0; i < VECTOR; i++) v.at[i] = element(stored.at[i]);
  return v;
}
