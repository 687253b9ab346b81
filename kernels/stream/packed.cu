// Two cells of 16 bits in one register: an instruction adds or multiplies both. Word i of a thread's vector holds its cells i and
// i + WORDS, so that the words beside it hold the cells beside both. Only beyond the vector's ends must words be made of two.
constexpr int WORDS = VECTOR / 2;
constexpr bool PACKED = true;

// The upper cell of a and the lower one of b, the lower ones of both, and the upper ones.
__device__ __forceinline__ unsigned across(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, 0x5432);
#else
  return a >> 16 | b << 16;
#endif
}
__device__ __forceinline__ unsigned lower(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, 0x5410);
#else
  return (a & 0xffffu) | b << 16;
#endif
}
__device__ __forceinline__ unsigned upper(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, 0x7632);
#else
  return a >> 16 | (b & 0xffff0000u);
#endif
}

// What adds nothing, so that no instruction is spent on it.
struct Nothing {};

struct Packed {
  unsigned bits;
  Packed() = default;
  __host__ __device__ constexpr explicit Packed(unsigned two) : bits(two) {}
  __host__ __device__ constexpr Packed(int) : bits(0) {} // 0
  __device__ Packed(T cell) : bits(cell.bits * 0x10001u) {} // both
  __host__ __device__ constexpr Packed(Nothing) : bits(0x80008000u) {} // -0
  __host__ __device__ constexpr bool operator!=(int) const { return bits != 0x3c003c00u; } // 1
  __device__ explicit operator T() const { // the lower cell
    T cell;
    cell.bits = (unsigned short)bits;
    return cell;
  }
};

#ifdef __CUDA_ARCH__
// (Without a rounding mode: the compiler makes one instruction of a product and its addition.)
#define ARITHMETIC(op, instruction)                                                             \
  __device__ __forceinline__ Packed operator op(Packed a, Packed b) {                           \
    unsigned two;                                                                               \
    asm(instruction ".f16x2 %0, %1, %2;" : "=r"(two) : "r"(a.bits), "r"(b.bits));               \
    return Packed(two);                                                                         \
  }
#else
#define ARITHMETIC(op, instruction)                                                             \
  inline Packed operator op(Packed a, Packed b) {                                               \
    const auto cell = [](unsigned bits) { T v; v.bits = (unsigned short)bits; return float(v); }; \
    return Packed(T(cell(a.bits) op cell(b.bits)).bits | (unsigned)T(cell(a.bits >> 16) op cell(b.bits >> 16)).bits << 16); \
  }
#endif
ARITHMETIC(+, "add")
ARITHMETIC(*, "mul")
#undef ARITHMETIC

// A sum that may have nothing in it yet: known when it is compiled.
struct Sum {
  Packed value;
  bool none;
  Sum() = default;
  __device__ __forceinline__ Sum(Packed v) : value(v), none(false) {}
  __device__ __forceinline__ Sum(Nothing v) : value(v), none(true) {}
  __device__ __forceinline__ operator Packed() const { return value; }
  __device__ __forceinline__ Sum &operator+=(Packed v) {
    value = none ? v : value + v;
    none = false;
    return *this;
  }
};
__device__ __forceinline__ Sum operator+(Sum a, Packed b) { return a += b; }

__device__ __forceinline__ Packed __shfl_up_sync(unsigned mask, Packed v, int lanes) { return Packed(::__shfl_up_sync(mask, v.bits, lanes)); }
__device__ __forceinline__ Packed __shfl_down_sync(unsigned mask, Packed v, int lanes) { return Packed(::__shfl_down_sync(mask, v.bits, lanes)); }
__device__ __forceinline__ Packed __shfl_sync(unsigned mask, Packed v, int lane, int width) { return Packed(::__shfl_sync(mask, v.bits, lane, width)); }

typedef Packed Real; // what is computed in

// A vector's cells in the order of memory, to words and back.
__device__ __forceinline__ void pack(Packed (&to)[WORDS], const T (&cells)[VECTOR]) {
  unsigned pairs[WORDS];
  memcpy(pairs, cells, sizeof pairs);
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    const unsigned a = pairs[i / 2], b = pairs[(i + WORDS) / 2];
    to[i] = Packed(i % 2 == 0 ? lower(a, b) : upper(a, b));
  }
}
__device__ __forceinline__ void unpack(T (&cells)[VECTOR], const Packed (&from)[WORDS]) {
  unsigned pairs[WORDS];
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    const unsigned a = from[2 * i % WORDS].bits, b = from[(2 * i + 1) % WORDS].bits;
    pairs[i] = i < WORDS / 2 ? lower(a, b) : upper(a, b);
  }
  memcpy(cells, pairs, sizeof pairs);
}
