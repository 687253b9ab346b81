// What by_type is asked of the elements that lie at some place: their bytes, one of them, and N from the place of part `part` of
// so many on. (No generic lambdas: NVRTC 11 takes them for functions of the host.)
struct BytesOf {
  template <class S> __device__ __forceinline__ int operator()(S *) const { return sizeof(S); }
};
struct ElementAt {
  const char *at;
  long long i;
  template <class S> __device__ __forceinline__ T operator()(S *) const { return element(__ldg(reinterpret_cast<const S *>(at) + i)); }
};
// So many elements, moved at once as far as those of T are.
template <class S, int N> struct __align__(at_once(sizeof(S), N * least(sizeof(S), sizeof(T)))) Stored { S of[N]; };
template <int N> struct ElementsAt {
  const char *at;
  int part;
  T *to;
  template <class S> __device__ __forceinline__ int operator()(S *) const {
    const Stored<S, N> all = reinterpret_cast<const Stored<S, N> *>(at)[part];
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = element(all.of[i]);
    return N;
  }
};

// The elements of an array from some place on. What is read there is of the element type, whatever it is stored in.
struct Reader {
  const char *at;
  int stored; // as by_type takes it; known while compiling

  __device__ __forceinline__ int bytes() const { return by_type(stored, BytesOf{}); }
  __device__ __forceinline__ Reader operator+(long long i) const { return {at + i * bytes(), stored}; }
  __device__ __forceinline__ explicit operator size_t() const { return (size_t)at; }
  __device__ __forceinline__ T operator[](long long i) const { return by_type(stored, ElementAt{at, i}); }
  friend __device__ __forceinline__ T __ldg(const Reader &e) { return e[0]; }

  // As many elements as a W has of the type T. Of parts of so many, the one of that number.
  template <class W> __device__ __forceinline__ W as(int part) const {
    T value[sizeof(W) / sizeof(T)];
    by_type(stored, ElementsAt<sizeof(W) / sizeof(T)>{at, part, value});
    W word;
    memcpy(&word, value, sizeof word);
    return word;
  }
};
