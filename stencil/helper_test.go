package stencil

import (
	"strings"
	"testing"
)

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

// Where a cast says that fewer than 32 bits are wanted, compilers compute in 16 bits, and ptxas gets the negative of -32768 wrong.
func TestArithmeticIsNarrowedByAFunction(t *testing.T) {
	for body, want := range map[string]string{
		"return -get(0);":                     "narrowed<short>(wrap_neg((int)get(0, 0, 0)))",
		"int n = get(1) * 65535; return n;":   "narrowed<short>(v0)",
		"return get(1);":                      "return get(1, 0, 0);",
		"return get(1) < get(-1) ? 1 : 0;":    "return (short)((int)get(1, 0, 0) < ",
		"return (int8)(get(1) - get(0)) / 3;": "narrowed<signed char>(wrap_sub(",
	} {
		if got := StageCode(mustParse(t, "NumDimensions 1 StencilSize (1) DataType int16 CellValue { "+body+" }"), 0); !strings.Contains(got, want) {
			t.Errorf("%s: want %s in\n%s", body, want, got)
		}
	}
	// A wide cell may be in a register still, with what computed it; a step scalar that is computed once is so on the GPU.
	if got := StageCode(mustParse(t, "NumDimensions 1 StencilSize (1) DataType int CellValue { return (int16)get(1) / 3; }"), 0); !strings.Contains(got, "narrowed<short>(get(") {
		t.Error(got)
	}
	s := mustParse(t, "NumDimensions 1 StencilSize (1) DataType int16 StepScalar max m { return get(0); } StepScalar q { return (int16)(-m) / 3; } CellValue { return get(1) + q; }")
	if got := StepCode(s, 1); !strings.Contains(got, "narrowed<short>(wrap_neg(") {
		t.Error(got)
	}
}
