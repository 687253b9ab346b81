// Arrays of several types: prefetched planes of each lie in shared memory as the array is stored.

template <class Elem> __device__ __forceinline__ void copy_vector(char *to, unsigned shared, const Elem *from TURNS(, const int (&turns)[VECTOR / PART]));
struct CopyOf {
  char *to;
  unsigned shared;
  const char *from; TURNS(const int (&turns)[VECTOR / PART];)
  template <class Elem> __device__ __forceinline__ int operator()(Elem *) const {
    copy_vector(to, shared, reinterpret_cast<const Elem *>(from) TURNS(, turns));
    return 0;
  }
};
__device__ __forceinline__ void copy_vector(char *to, unsigned shared, const Reader &from TURNS(, const int (&turns)[VECTOR / PART])) { by_type(from.stored, CopyOf{to, shared, from.at TURNS(, turns)}); }

struct VectorAt {
  const char *at;
  template <class Elem> __device__ __forceinline__ Vector operator()(Elem *) const {
    const VectorOf<Elem> stored = *reinterpret_cast<const VectorOf<Elem> *>(at);
    Vector v;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) v.at[i] = element(stored.at[i]);
    return v;
  }
};

// Bytes from the thread's place in the first plane, of array a, to that for its row j in the plane at place f.
__device__ __forceinline__ int ring_at(int f, int a, int j) {
  return f * (int)sizeof(Vector) + LANES * BANDS * ROWS * VECTOR * bytes_before(a) + j * LANES * VECTOR * bytes_of(a);
}
// A place that lies so many vectors behind the first plane's begin, for the elements of array a: p is that for elements of T.
template <class P> __device__ __forceinline__ P of_array(P p, int a, int offset = COALESCED ? (int)threadIdx.x * (VECTOR - PART) : 0) {
  return p + (int)((threadIdx.y * (ROWS * LANES) + threadIdx.x) * VECTOR - offset) * (bytes_of(a) - (int)sizeof(T));
}
// Row j of the thread's cells of array a in the plane at place f.
__device__ __forceinline__ Vector in_ring(const Vector *own, int f, int a, int j) {
  return by_type(stored_in(a), VectorAt{of_array(reinterpret_cast<const char *>(own), a, 0) + ring_at(f, a, j)});
}
