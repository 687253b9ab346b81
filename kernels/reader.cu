// The elements of an array from some place on. What is read there is of the element type, whatever it is stored in.
struct Reader {
  const char *at;
  int stored; // as by_type takes it; known while compiling

  __device__ __forceinline__ int bytes() const {
    return by_type(stored, [](auto *type) { return (int)sizeof *type; });
  }
  __device__ __forceinline__ Reader operator+(long long i) const { return {at + i * bytes(), stored}; }
  __device__ __forceinline__ Reader &operator+=(long long i) {
    at += i * bytes();
    return *this;
  }
  __device__ __forceinline__ explicit operator size_t() const { return (size_t)at; }

  __device__ __forceinline__ T operator[](long long i) const {
    return by_type(stored, [&](auto *type) { return T(__ldg((const decltype(type))at + i)); });
  }
  friend __device__ __forceinline__ T __ldg(const Reader &e) { return e[0]; }

  // So many elements, moved at once as far as those of T are.
  template <class S, int N> struct __align__(least(N * least(sizeof(S), sizeof(T)), 16)) Stored { S of[N]; };
  template <int N, class S> __device__ __forceinline__ int convert(S *, int part, T (&to)[N]) const {
    const Stored<S, N> all = reinterpret_cast<const Stored<S, N> *>(at)[part];
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = T(all.of[i]);
    return N;
  }
  // As many elements as a W has of the type T. Of parts of so many, the one of that number.
  template <class W> __device__ __forceinline__ W as(int part = 0) const {
    T value[sizeof(W) / sizeof(T)];
    by_type(stored, [&](auto *type) { return convert(type, part, value); });
    W word;
    memcpy(&word, value, sizeof word);
    return word;
  }
};
typedef Reader UnaliasedReader; // to which no store of the kernel writes
