package stencil

import "testing"

// TestQuotientsOfIntegers: of all that lies near 0 and near the limits of a type, against more bits, and in no way that a compiler may take for undefined.
func TestQuotientsOfIntegers(t *testing.T) {
	ranProgram(t, "#include <cstdio>\n#include <limits>\n#define __host__\n#define __device__\n"+HelperSource+`
template <class I> bool all() {
  I values[46];
  const I low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
  for (int i = 0; i < 10; i++) values[i] = low + i, values[10 + i] = high - i;
  for (int i = 0; i < 20; i++) values[20 + i] = (I)(i - 10);
  for (int i = 0; i < 6; i++) values[40 + i] = high / (I)(3 + i);
  for (I a : values)
    for (I b : values) {
      const __int128 q = b == 0 ? 0 : (__int128)a / b, r = b == 0 ? (__int128)a : (__int128)a % b;
      if (divide(a, b) == (I)q && modulo(a, b) == (I)r) continue;
      printf("%lld and %lld: %lld, %lld\n", (long long)a, (long long)b, (long long)divide(a, b), (long long)modulo(a, b));
      return false;
    }
  return true;
}
int main() { return all<int>() && all<unsigned>() && all<long long>() && all<unsigned long long>() ? 0 : 1; }
`)
}
