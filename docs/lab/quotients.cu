// How far the quotients and roots of kernels (stencil/arithmetic.cu) in float64 are from those of a processor.
// nvcc -arch=sm_90 -o quotients docs/lab/quotients.cu && ./quotients, on one H200 with CUDA 13.0:
//   most units off: quotient 1 root 2 reciprocal root 1 (no error)
#include <cstdio>
#include <cmath>
#include <cstdint>
#include <cstring>
#include "../../stencil/arithmetic.cu"
__global__ void k(const double *a, const double *b, double *q, double *s, double *r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { q[i] = quotient(a[i], b[i]); s[i] = square_root(b[i]); r[i] = reciprocal_root(b[i]); }
}
static double ulp(double x, double exact) { if (x == exact || (x != x && exact != exact)) return 0; if (!std::isfinite(x) || !std::isfinite(exact)) return 1e300; double u = std::nextafter(std::fabs(exact), INFINITY) - std::fabs(exact); return std::fabs(x - exact) / u; }
int main() {
  const int n = 1 << 22; double *m[5]; for (auto &p : m) cudaMallocManaged(&p, n * 8);
  uint64_t x = 88172645463325252ull; auto rnd = [&] { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; };
  for (int i = 0; i < n; i++) { double u = (rnd() >> 11) * 0x1p-53 + 0.5, v = (rnd() >> 11) * 0x1p-53 + 0.5; int e = i % 3 == 0 ? 0 : (int)(rnd() % 1800) - 900; m[0][i] = u * (rnd() & 1 ? 1 : -1); m[1][i] = std::ldexp(v, e); }
  double sp[] = {0.0, -0.0, INFINITY, NAN, 1, 2, 4, 0.25, 1e-310, 0x1p-1022, 0x1p1021}; for (int i = 0; i < 11; i++) m[1][i] = sp[i], m[0][i] = 3;
  k<<<n / 256, 256>>>(m[0], m[1], m[2], m[3], m[4], n); cudaDeviceSynchronize();
  double w[3] = {0, 0, 0};
  for (int i = 11; i < n; i++) { w[0] = fmax(w[0], ulp(m[2][i], m[0][i] / m[1][i])); w[1] = fmax(w[1], ulp(m[3][i], std::sqrt(m[1][i]))); w[2] = fmax(w[2], ulp(m[4][i], (double)(1 / sqrtl((long double)m[1][i])))); }
  printf("most units off: quotient %.3g root %.3g reciprocal root %.3g (%s)\n", w[0], w[1], w[2], cudaGetErrorString(cudaGetLastError()));
  for (int i = 0; i < 11; i++) printf("%g: 3/x %g sqrt %.17g rsqrt %.17g\n", m[1][i], m[2][i], m[3][i], m[4][i]);
}
