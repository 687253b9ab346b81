// Puts a part where a writer is.
template <class P> struct PutPart {
  char *at;
  const P &part;
  template <class Elem> __device__ __forceinline__ void operator()(Elem *) const {
    PartOf<Elem> stored;
#pragma unroll
    for (int k = 0; k < PART; k++) stored.at[k] = stored_as<Elem>(part.at[k]);
    *reinterpret_cast<PartOf<Elem> *>(at) = stored;
  }
};
template <class P> __device__ __forceinline__ void put_part(const Writer &to, const P &part) { by_type(to.stored, PutPart<P>{to.at, part}); }
