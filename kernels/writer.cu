// What by_type is asked to do at some place: to put an element there, or N from the place of part `part` of so many on.
struct PutElement {
  char *at;
  T value;
  template <class S> __device__ __forceinline__ void operator()(S *) const { *reinterpret_cast<S *>(at) = stored_as<S>(value); }
};
template <int N> struct PutElements {
  char *at;
  int part;
  const T *from;
  template <class S> __device__ __forceinline__ void operator()(S *) const {
    Stored<S, N> all;
#pragma unroll
    for (int i = 0; i < N; i++) all.of[i] = stored_as<S>(from[i]);
    reinterpret_cast<Stored<S, N> *>(at)[part] = all;
  }
};

// Where the elements of a field go, from some place on. What is put there is of the element type.
struct Writer {
  char *at;
  int stored; // as by_type takes it; known while compiling

  struct Place {
    char *at;
    int stored;
    __device__ __forceinline__ void operator=(T value) const { by_type(stored, PutElement{at, value}); }
  };

  __device__ __forceinline__ int bytes() const { return by_type(stored, BytesOf{}); }
  __device__ __forceinline__ Writer operator+(long long i) const { return {at + i * bytes(), stored}; }
  __device__ __forceinline__ Writer &operator+=(long long i) { return *this = *this + i; }
  __device__ __forceinline__ explicit operator size_t() const { return (size_t)at; }
  __device__ __forceinline__ explicit operator double *() const { return reinterpret_cast<double *>(at); }
  __device__ __forceinline__ Place operator[](long long i) const { return {at + i * bytes(), stored}; }

  // Elements that lie in a W as so many of the type T; of parts of so many, they are the one of that number.
  template <class W> __device__ __forceinline__ void put(int part, const W &word) const {
    T value[sizeof(W) / sizeof(T)];
    memcpy(value, &word, sizeof word);
    by_type(stored, PutElements<sizeof(W) / sizeof(T)>{at, part, value});
  }
};
