package stencil

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestPowersOfNumbersAreProductsAndRoots(t *testing.T) {
	for _, c := range []struct {
		y, float, double string
	}{
		{"2", "whole_power<2>(", "whole_power<2>("},
		{"-1", "whole_power<-1>(", "whole_power<-1>("},
		{"16", "whole_power<16>(", "whole_power<16>("},
		{"17", "pow(", "pow("},
		{"0", "pow(", "pow("},
		{"0.5", "half_power<1>(", "half_power<1>("},
		{"-1.5", "half_power<-3>(", "half_power<-3>("},
		{"1 / 3.", " power(", " power("},
		{"1.4", " power(", " power("},
		{"a", "pow(", "pow("},
		{"get(1)", "pow(", "pow("},
	} {
		for _, d := range []string{"float", "double"} {
			s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType "+d+"\nScalarVariables (float a = 2)\nCellValue { return pow(get(0), "+c.y+"); }")
			want := c.float
			if d == "double" {
				want = c.double
			}
			if code := " " + strings.ReplaceAll(StageCode(s, 0), "return ", " "); !strings.Contains(code, want) || want == "pow(" && strings.Contains(code, "_pow") {
				t.Errorf("%s of %s: no %q in %s", c.y, d, want, code)
			}
			if o, plain := s.Updating(0), strings.Contains(want, "pow("); plain != (o.Calls[special("pow")] > 0) && !(d == "double" && want == " power(") {
				t.Errorf("%s of %s: counted as %+v", c.y, d, o)
			}
		}
	}
	s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType float\nCellValue { return exp(-2 / (2 * 1.5 * 1.5)) * get(0) + sqrt(2.25) + pow(2, sqrt(4.0)) * fmax(1, 2.5); }")
	if code, want := StageCode(s, 0), fmt.Sprint("T(", math.Exp(-2/4.5), ") * get(0, 0, 0) + T(1.5) + T(4.0) * T(2.5)"); !strings.Contains(code, want) {
		t.Errorf("functions of numbers: no %s in %s", want, code)
	}
	s = mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType double\nCellValue { return pow(get(0), -12) + pow(get(0), 2.5); }")
	if o := s.Updating(0); o.Mul != 4+2 || o.Div != 1 || o.Special != 1 { // x^2, x^4, x^8, x^4 x^8; x^2, x^2 x^(1/2)
		t.Errorf("x^-12 and x^2.5: %+v", o)
	}
}

// The functions that kernels call for powers, exponentials too, against C's, where they are computed as on a processor. The errors are those
// that a proof grants.
func TestPowersAndExponentialsErrAsTheyMay(t *testing.T) {
	var calls strings.Builder
	add := func(y float64) {
		e := Call{"pow", []Expr{Num{1, Elem}, Num{y, Elem}}, Elem}
		for _, double := range []bool{false, true} {
			kind, _ := power(e)
			if double && kind == fractionalPower {
				continue
			}
			code, _ := powerCode(e)
			d := map[bool]string{false: "float", true: "double"}[double]
			if kind == fractionalPower {
				code = fmt.Sprintf("power(x, (%s)%v)", d, y)
			} else {
				code += "(x)"
			}
			units := powerUnits(e, double)
			for x := 0x1p-9; x < 1000; x *= 1.37 {
				fmt.Fprintf(&calls, "  { const %s x = %v; check(%s, pow((long double)x, %v), %v, \"%[3]s of %[2]v\"); }\n", d, x, code, y, units(x, y))
			}
		}
	}
	for _, y := range []float64{2, 3, 7, 12, -1, -2, -5, 0.5, 1.5, -0.5, -2.5, 0.3333, 1.4, -0.4, 3.3} {
		add(y)
	}
	for x := -80.0; x < 80; x += 1.7 {
		fmt.Fprintf(&calls, "  { const float x = %v; check(exponential(x), exp((long double)x), %v, \"exp(%[1]v)\"); check(exponential(x, 0.3f), exp((long double)x * 0.3f), %v, \"exp(0.3 * %[1]v)\"); check(exponential((double)x), exp((long double)x), %v, \"exp(%[1]v) in double\"); }\n",
			x, functionUnits+exponentUnits*math.Abs(x), functionUnits+exponentUnits*math.Abs(x), 8)
	}
	for x := 0x1p-40; x < 0x1p40; x *= 1.31 {
		for _, near := range []float64{x, 1 + min(x, 0.5), 1 - min(x, 0.5)} {
			for name, base := range map[string]float64{"log": math.Ln2, "log2": 1, "log10": math.Log10(2)} {
				code := approximations[name]
				fmt.Fprintf(&calls, "  { const float x = %v; const long double want = %s((long double)x); check<float>(%s(x), want, fmax(%d, want != 0 ? %v / fabs((double)want) : 0), \"%[2]s(%[1]v)\"); check<double>(%[3]s((double)x), want, 8, \"%[2]s(%[1]v) in double\"); }\n",
					float32(near), name, code, functionUnits, base*(logarithmUnits+1))
			}
		}
	}
	for x := 0x1p-40; x < 0x1p127; x *= 1.0731 {
		fmt.Fprintf(&calls, "  { const float x = %v; check(arctangent(x), atan((long double)x), %d, \"atan(%[1]v)\"); check(arctangent(-x), -atan((long double)x), %[2]d, \"atan(-%[1]v)\"); check(arctangent((double)x), atan((long double)x), 2, \"atan(%[1]v) in double\"); }\n",
			float32(x), functionUnits/2)
	}
	source := "#include <cmath>\n#include <cstdio>\nusing namespace std;\n#define __host__\n#define __device__\nstatic double rsqrt(double x) { return 1 / sqrt(x); }\nstatic float rsqrt(float x) { return 1 / sqrt(x); }\nstatic bool failed;\n" +
		"template <class F> void check(F got, long double want, double units, const char *what) { const double off = want == 0 ? got == 0 ? 0 : INFINITY : fabs((double)((got - want) / want)), unit = sizeof(F) == 4 ? 0x1p-24 : 0x1p-53; if (!(off <= units * unit)) { failed = true; printf(\"%s: %.17g, want %.17Lg: %g units, %g allowed\\n\", what, (double)got, want, off / unit, units); } }\n" +
		ArithmeticSource + "int main() {\n" + calls.String() +
		"  if (!(whole_power<3>(-2.f) == -8) || !(power(-2.f, 1.4f) != power(-2.f, 1.4f)) || power(0.f, 0.3f) != 0 || logarithm(0.f) != -INFINITY || logarithm2(8.f) != 3 || logarithm10(-1.f) == logarithm10(-1.f) || logarithm(INFINITY) != INFINITY || half_power<3>(0.) != 0 || exponential(-INFINITY) != 0 || exponential(INFINITY) != INFINITY || exponential(NAN) == exponential(NAN) || arctangent(INFINITY) != 1.57079633f || arctangent(-INFINITY) != -1.57079633f || arctangent(NAN) == arctangent(NAN) || arctangent(0.f) != 0 || !signbit(arctangent(-0.f))) { failed = true; printf(\"at the ends\\n\"); }\n  return failed;\n}\n"
	ranProgram(t, source)
}
