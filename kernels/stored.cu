// For families that copy planes as they are stored: elements of any type, in memory and in shared memory.

template <class Elem> struct VectorOf;
template <class Elem> struct PartOf;
typedef VectorOf<T> Vector;
typedef PartOf<T> Part;

template <class Elem> __device__ __forceinline__ T cell_of(const VectorOf<Elem> &v, int i) { return element(v.at[i]); }
template <class V> __device__ __forceinline__ Real cell_of(const V &v, int i) { return v.at[i]; } // of what was computed

// The elements that a reader gives.
template <class Elem> __device__ __forceinline__ const Elem *elements(const Reader &reader) { return reinterpret_cast<const Elem *>(reader.at); }
__device__ __forceinline__ Reader &operator+=(Reader &reader, long long i) { return reader = reader + i; }

// A part from where a reader is.
template <class P> struct PartAt {
  const char *at;
  template <class Elem> __device__ __forceinline__ P operator()(Elem *) const {
    const PartOf<Elem> stored = *reinterpret_cast<const PartOf<Elem> *>(at);
    P part;
#pragma unroll
    for (int k = 0; k < PART; k++) part.at[k] = element(stored.at[k]);
    return part;
  }
};
template <class P = Part> __device__ __forceinline__ P part_of(const Reader &from) { return by_type(from.stored, PartAt<P>{from.at}); }

// The bytes on whose multiples n elements begin that are moved together: where as many of T do in memory.
__host__ __device__ constexpr int aligned(int bytes, int n) { return at_once(bytes, least(n, MOVED) * least(bytes, sizeof(T))); } // n of so many bytes

// The part of a vector that its ith copy belongs to.
template <class Elem> __host__ __device__ constexpr int part_at(int i) { return i / (int)(sizeof(PartOf<Elem>) / alignof(PartOf<Elem>)); }

// Bytes to the ith copy of a vector, where copies of a byte would be `stride` apart if each were a part.
template <class Elem> __host__ __device__ constexpr int piece_at(int i, int stride) {
  constexpr int COPIES_OF = sizeof(PartOf<Elem>) / alignof(PartOf<Elem>);
  return i / COPIES_OF * COPIES_OF * stride + i % COPIES_OF * (int)alignof(PartOf<Elem>);
}

// Asks for a W to be copied, as copy_async does.
template <class W> __device__ __forceinline__ void copy_part(void *to, unsigned shared, const void *from) {
  constexpr int BYTES = alignof(W);
#pragma unroll
  for (int i = 0; i < (int)sizeof(W); i += BYTES) copy_async<BYTES>((char *)to + i, shared + i, (const char *)from + i);
}

// What is too small for an asynchronous copy: N parts that lie STRIDE parts apart are loaded with the copies, and put into
// shared memory when the plane step has computed, so that nothing waits for them.
template <int STRIDE, int N, class Elem> __device__ __forceinline__ void load_late(PartOf<Elem> (&late)[N], const Elem *from TURNS(, const int (&turns)[N])) {
#pragma unroll
  for (int i = 0; i < N; i++) late[i] = reinterpret_cast<const PartOf<Elem> *>(from TURNS( + turns[i]))[i * STRIDE];
}
template <int STRIDE, int N, class Elem> __device__ __forceinline__ void put_late(char *to, const PartOf<Elem> (&late)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) reinterpret_cast<PartOf<Elem> *>(to)[i * STRIDE] = late[i];
}
