package stencil

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// decode is the value of 16 stored bits, by the definition of the format: a sign,
// the exponent, the rest of the significand.
func decode(d DType, bits uint16) float64 {
	f := d.fact()
	fraction := f.mantissa - 1
	exponent, rest := int(bits>>fraction)&(1<<(15-fraction)-1), float64(bits&(1<<fraction-1))
	v := math.Ldexp(math.Ldexp(1, fraction)+rest, exponent-1+f.minExponent-fraction)
	switch {
	case exponent == 1<<(15-fraction)-1 && rest != 0:
		return math.NaN()
	case exponent == 1<<(15-fraction)-1:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(rest, f.minExponent-fraction)
	}
	if bits>>15 == 1 {
		return -v
	}
	return v
}

// The generated text converts between 16 bits and float: every stored value to
// float, and to 16 bits every value, the ties between neighbours, the floats beside
// the ties and the largest and smallest floats. DType.Round and Widen are the judges.
func TestEvery16BitFloatConvertsAsTheReferenceRounds(t *testing.T) {
	compiler := hostCompiler(t)
	for _, d := range []DType{Float16, BFloat16} {
		var values []float32
		var finite []float64
		for bits := range 1 << 16 {
			if v := decode(d, uint16(bits)); !math.IsNaN(v) {
				values = append(values, float32(v))
				if !math.IsInf(v, 0) {
					finite = append(finite, v)
				}
			}
		}
		slices.Sort(finite)
		largest := finite[len(finite)-1]
		between := func(a, b float64) {
			tie := float32((a + b) / 2)
			values = append(values, tie, math.Nextafter32(tie, float32(math.Inf(-1))), math.Nextafter32(tie, float32(math.Inf(1))))
		}
		for i := range len(finite) - 1 {
			between(finite[i], finite[i+1])
		}
		between(largest, largest+(largest-finite[len(finite)-2])) // half a step beyond the largest is infinite
		between(-largest, -largest-(largest-finite[len(finite)-2]))
		values = append(values, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, float32(math.NaN()))

		source := "#include <cmath>\n#include <cstdio>\n#include <cstring>\n#define __host__\n#define __device__\n" + TypeSource(d) + fmt.Sprintf(`
int main() {
  for (unsigned b = 0; b < 1u << 16; b++) {
    %[1]s h;
    h.bits = (unsigned short)b;
    const float f = h;
    fwrite(&f, 4, 1, stdout);
  }
  for (float f; fread(&f, 4, 1, stdin) == 1;) {
    const %[1]s h = f;
    fwrite(&h.bits, 2, 1, stdout);
  }
}
`, d.C())
		dir := t.TempDir()
		file, program := filepath.Join(dir, "convert.cpp"), filepath.Join(dir, "convert")
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(compiler, "-std=c++17", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o", program, file).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.4000s", err, out)
		}
		var in, stderr bytes.Buffer
		binary.Write(&in, binary.LittleEndian, values)
		cmd := exec.Command(program)
		cmd.Stdin, cmd.Stderr = &in, &stderr
		out, err := cmd.Output()
		if err != nil || len(out) != 4<<16+2*len(values) {
			t.Fatalf("%v, %d bytes\n%s", err, len(out), strings.TrimSpace(stderr.String()))
		}
		wrong := 0
		bad := func(format string, args ...any) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s: "+format, append([]any{d}, args...)...)
			}
		}
		stored := make([]byte, 2<<16)
		for bits := range 1 << 16 {
			binary.LittleEndian.PutUint16(stored[2*bits:], uint16(bits))
		}
		wide := Widen(d, stored)
		for bits := range 1 << 16 {
			want := decode(d, uint16(bits))
			if got := float64(math.Float32frombits(binary.LittleEndian.Uint32(out[4*bits:]))); !same(got, want) || math.Signbit(got) != math.Signbit(want) && !math.IsNaN(want) {
				bad("%#04x is %v in generated code, want %v", bits, got, want)
			}
			if !same(wide[bits], want) {
				bad("%#04x is widened to %v, want %v", bits, wide[bits], want)
			}
			if r := d.Round(want); !same(r, want) {
				bad("%v, a value of the type, is rounded to %v", want, r)
			}
		}
		for i, v := range values {
			bits := binary.LittleEndian.Uint16(out[4<<16+2*i:])
			got, want := decode(d, bits), d.Round(float64(v))
			if !same(got, want) || math.Signbit(got) != math.Signbit(float64(v)) && v == v {
				bad("%v becomes %v (%#04x) in generated code, %v in the reference", v, got, bits, want)
			}
		}
		t.Logf("%s: %d conversions", d, 1<<16+len(values))
	}
}

// Every whole number that to_whole is for, from float and from double; every integer of 8 and 16 bits, to float; and what becomes of numbers
// around them and of limits and NaN as HelperSource has it, in steps of an eighth.
func TestWholeNumbersBecomeIntegersExactly(t *testing.T) {
	source := "#include <cmath>\n#include <cstdio>\n#include <initializer_list>\n#define __host__\n#define __device__\n" + HelperSource + WholeSource + fmt.Sprintf(`
template <class I> bool same(float v, I low, I high) {
  const float want = to_integer(v, low, high), got = whole_part(v, low, high);
  if (got != want || whole_part((double)v, low, high) != want || (I)to_whole(got) != (I)want) { printf("%%g of %%d to %%d: %%g, want %%g\n", v, low, high, got, want); return false; }
  return true;
}
template <class I> bool all(I low, I high) {
  for (int i = low; i <= high; i++)
    if (of_whole((I)i) != i) { printf("%%d: %%g\n", i, of_whole((I)i)); return false; }
  for (float v = low - 3.f; v <= high + 3.f; v += 0.125f)
    if (!same(v, low, high)) return false;
  for (float v : {NAN, -NAN, INFINITY, -INFINITY, 1e30f, -1e30f, -0.f, 1e-45f, -1e-45f})
    if (!same(v, low, high)) return false;
  return true;
}
int main() {
  for (int i = -%[1]d; i <= %[1]d; i++)
    if (to_whole((float)i) != i || to_whole((double)i) != i) { printf("%%d: %%d, %%d\n", i, to_whole((float)i), to_whole((double)i)); return 1; }
  return all<unsigned char>(0, 255) && all<signed char>(-128, 127) && all<unsigned short>(0, 65535) && all<short>(-32768, 32767) ? 0 : 1;
}
`, mostWhole)
	ranProgram(t, source)
}

// ranProgram compiles a program and runs it: what it prints is what fails.
func ranProgram(t *testing.T, source string) {
	t.Helper()
	folder := t.TempDir()
	file, program := filepath.Join(folder, "program.cpp"), filepath.Join(folder, "program")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(hostCompiler(t), "-std=c++17", "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%.2000s", err, out)
	}
}

func TestOnlyWhatIsWholeAndFitsIsTakenForIt(t *testing.T) {
	for _, c := range []struct {
		body, want string
	}{
		{"int n = get(a, 1) + get(a, -1); return u + n;", "to_whole(get_1(1, 0, 0) + get_1(-1, 0, 0))"},
		{"int n = 3 * get(b, 0) - get(a, 0); return u + n;", "to_whole(T(3.0) * ro_0(0, 0, 0) - get_1(0, 0, 0))"},
		{"int n = u > 0 ? get(a, 0) : -get(b, 0); return u + n;", "to_whole("},
		{"int n = u; return u + n;", "to_integer("},
		{"int n = 0.5 * get(a, 0); return u + n;", "to_integer("},
		{"int n = get(a, 0) / 2; return u + n;", "to_integer("},
		{"int n = get(wide, 0); return u + n;", "to_integer("},                               // of 32 bits
		{"int n = get(b, 0) * get(b, 1) * get(b, -1); return u + n;", "to_integer("},         // beyond 2^21
		{"uint32 n = get(c, 0); return u + n;", "to_integer("},                               // below 0
		{"int8 n = get(a, 0); return u + n;", "to_integer("},                                 // beyond 127
		{"uint8 n = get(a, 0); return u + n;", "(unsigned char)to_whole(get_1(0, 0, 0))"},    //
		{"int64 n = get(c, 0); return u + n;", "(long long)to_whole(ro_1(0, 0, 0))"},         //
		{"uint64 n = u > 0 ? get(a, 0) : 7; return u + n;", "(unsigned long long)to_whole("}, //
	} {
		body := strings.ReplaceAll(c.body, "return u", "return get(u, 0)")
		body = strings.ReplaceAll(strings.ReplaceAll(body, "u > 0", "get(u, 0) > 0"), "= u;", "= get(u, 1);")
		s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType float\nFields (u, a: uint8, wide: int32)\nReadOnly (b: int16, c: int8)\n"+
			"CellValue (u) { "+body+" }\n")
		if code := StageCode(s, 0); !strings.Contains(code, c.want) || strings.Contains(c.want, "whole") == strings.Contains(code, "to_integer") {
			t.Errorf("%s: no %s in\n%s", body, c.want, code)
		}
	}
	// What a stage sets is converted to what it is stored in; one that cannot be anything else is as it is.
	s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType float\nFields (u, a: uint8)\nCellValue { return 0.5 * get(u, 1), get(u, 0) > 0 ? get(a, 0) : 1; }")
	if code := StageCode(s, 0); strings.Contains(code, "to_") {
		t.Error(code)
	}
}
