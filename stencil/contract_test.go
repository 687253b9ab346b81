package stencil

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cElem is the element type in the C++ of these tests: double stands for every
// floating-point type.
func cElem(s *Stencil) string {
	if s.DType.Floating() {
		return "double"
	}
	return s.DType.C()
}

// testValue is element i of array a: small, exact in every type, of both signs
// where the type has them.
func testValue(s *Stencil, a, i int) float64 {
	v := float64((i*7919+a*31)%23 - 11)
	switch {
	case s.DType.Floating():
		return v / 4
	case !Type(s.DType).signed():
		return v + 11
	}
	return v
}

// cProgram is a C++ program that runs the generated functions of stencils on a
// grid, by the contract of print.go, and prints every field's values. It shares
// nothing with the reference but that text.
func cProgram(stencils []*Stencil, n Size, steps int) string {
	var b strings.Builder
	b.WriteString("#include <math.h>\n#include <stdio.h>\n#include <vector>\ninline double rsqrt(double a) { return 1 / sqrt(a); }\n#define __host__\n#define __device__\n" + HelperSource)
	fmt.Fprintf(&b, "static int nx, ny, nz, px, py, pz, iteration;\n")
	for k, s := range stencils {
		size := Size{1, 1, 1}
		copy(size[:s.Dims], n[:])
		fmt.Fprintf(&b, "namespace s%d {\ntypedef %s T;\n", k, cElem(s))
		fmt.Fprintf(&b, "static std::vector<T> f[%d], next[%d], ro[%d];\n", len(s.Fields), len(s.Fields), len(s.ReadOnly)+1)
		for i, a := range s.Scalars {
			fmt.Fprintf(&b, "static %s s_%d = %v;\n", a.Type.C(), i, a.Default)
		}
		rule := map[Boundary]string{
			Clamp: "i < 0 ? 0 : n - 1", Fixed: "0/0", Wrap: "i < 0 ? at(i + n, n) : at(i - n, n)", Mirror: "n == 1 ? 0 : i < 0 ? at(-i, n) : at(2 * n - 2 - i, n)", Constant: "-1", Edge: "-1",
		}
		fmt.Fprintf(&b, "static int at(int i, int n) { return i >= 0 && i < n ? i : (%s); }\n", rule[s.Boundary])
		fmt.Fprintf(&b, "static int near(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }\n")
		for i := range s.ReadOnly {
			at := "near"
			if s.Boundary == Wrap || s.Boundary == Mirror {
				at = "at"
			}
			fmt.Fprintf(&b, "static T ro_%d(int dx, int dy, int dz) { return ro[%d][(%[3]s(pz + dz, nz) * ny + %[3]s(py + dy, ny)) * nx + %[3]s(px + dx, nx)]; }\n", i, i, at)
			fmt.Fprintf(&b, "static T read_%d(long long i) { long long n = ro[%d].size(); return ro[%d][i < 0 ? 0 : i < n ? i : n - 1]; }\n", i, i, i)
		}
		for i, f := range s.Fields {
			outside := fmt.Sprintf("(T)%v", s.Constant)
			if f.Edge != nil {
				fmt.Fprintf(&b, "static T edge_%d(T value, int px, int py, int pz) {\n%s}\n", i, EdgeSource(s, i))
				outside = fmt.Sprintf("edge_%d(f[%d][(near(z, nz) * ny + near(y, ny)) * nx + near(x, nx)], x, y, z)", i, i)
			}
			name := "get"
			if len(s.Fields) > 1 {
				name = fmt.Sprintf("get_%d", i)
			}
			fmt.Fprintf(&b, "static T %s(int dx, int dy, int dz) {\n  const int x = px + dx, y = py + dy, z = pz + dz, i = at(x, nx), j = at(y, ny), k = at(z, nz);\n"+
				"  return i < 0 || j < 0 || k < 0 ? %s : f[%d][(k * ny + j) * nx + i];\n}\n", name, outside, i)
		}
		for i, st := range s.Stages {
			if len(st.Outputs) == 1 {
				fmt.Fprintf(&b, "static T stage%d() {\n%s}\n", i, StageSource(s, i))
				continue
			}
			var out []string
			for j := range st.Outputs {
				out = append(out, fmt.Sprintf("T &out_%d", j))
			}
			fmt.Fprintf(&b, "static void stage%d(%s) {\n%s}\n", i, strings.Join(out, ", "), StageSource(s, i))
		}
		fmt.Fprintf(&b, "static void all() {\n  nx = %d, ny = %d, nz = %d;\n", size[0], size[1], size[2])
		arrays := len(s.Fields) + len(s.ReadOnly)
		for a := range arrays {
			v := fmt.Sprintf("f[%d]", a)
			if a >= len(s.Fields) {
				v = fmt.Sprintf("ro[%d]", a-len(s.Fields))
			}
			expr := "v"
			if s.DType.Floating() {
				expr = "v / 4.0"
			} else if !Type(s.DType).signed() {
				expr = "v + 11"
			}
			fmt.Fprintf(&b, "  for (int i = 0; i < nx * ny * nz; i++) { int v = (i * 7919 + %d) %% 23 - 11; %s.push_back((T)(%s)); }\n", a*31, v, expr)
		}
		fmt.Fprintf(&b, "  for (int a = 0; a < %d; a++) next[a] = f[a];\n  for (iteration = 1; iteration <= %d; iteration++) {\n", len(s.Fields), steps)
		for i, st := range s.Stages {
			b.WriteString("    for (pz = 0; pz < nz; pz++) for (py = 0; py < ny; py++) for (px = 0; px < nx; px++) {\n      const int i = (pz * ny + py) * nx + px; (void)i;\n")
			if s.Boundary == Fixed {
				fmt.Fprintf(&b, "      if (px < %d || px >= nx - %d || py < %d || py >= ny - %d || pz < %d || pz >= nz - %d) {", st.Low[0], st.High[0], st.Low[1], st.High[1], st.Low[2], st.High[2])
				for _, f := range st.Outputs {
					fmt.Fprintf(&b, " next[%d][i] = f[%d][i];", f, f)
				}
				b.WriteString(" continue; }\n")
			}
			if len(st.Outputs) == 1 {
				fmt.Fprintf(&b, "      next[%d][i] = stage%d();\n    }\n", st.Outputs[0], i)
			} else {
				var out []string
				for _, f := range st.Outputs {
					out = append(out, fmt.Sprintf("next[%d][i]", f))
				}
				fmt.Fprintf(&b, "      stage%d(%s);\n    }\n", i, strings.Join(out, ", "))
			}
			for _, f := range st.Outputs {
				fmt.Fprintf(&b, "    f[%d].swap(next[%d]);\n", f, f)
			}
		}
		format := `"%.17g\n", (double)v`
		if !s.DType.Floating() {
			format = `"%lld\n", (long long)v`
		}
		fmt.Fprintf(&b, "  }\n  for (auto &a : f) for (T v : a) printf(%s);\n}\n}\n", format)
	}
	b.WriteString("int main() {\n")
	for k := range stencils {
		fmt.Fprintf(&b, "  s%d::all();\n", k)
	}
	b.WriteString("}\n")
	return strings.ReplaceAll(b.String(), "0/0", "0")
}

// compareWithC runs the generated text of stencils and compares every value with
// the reference's: what is computed with + - * / must agree to the last bit, and
// the undefined-behaviour sanitizer must find nothing.
func compareWithC(t *testing.T, stencils []*Stencil) {
	t.Helper()
	compiler := hostCompiler(t)
	n, steps := Size{7, 5, 4}, 3
	dir := t.TempDir()
	source, program := filepath.Join(dir, "cells.cpp"), filepath.Join(dir, "cells")
	text := cProgram(stencils, n, steps)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-std=c++17", "-ffp-contract=off", "-fsanitize=undefined", "-fno-sanitize=float-divide-by-zero", "-fno-sanitize-recover=all", "-o", program, source}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s\n%s", err, out, text)
	}
	cmd := exec.Command(program)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.2000s\n%s", err, stderr.String(), text)
	}
	r := bytes.NewReader(out)
	for _, s := range stencils {
		size := Size{1, 1, 1}
		copy(size[:s.Dims], n[:])
		var d Data
		for a := range len(s.Fields) + len(s.ReadOnly) {
			v := make([]float64, size.Cells())
			for i := range v {
				v[i] = testValue(s, a, i)
			}
			if a < len(s.Fields) {
				d.Fields = append(d.Fields, valuesOf(s.DType, v))
			} else {
				d.ReadOnly = append(d.ReadOnly, valuesOf(s.DType, v))
			}
		}
		wrong := 0
		for f, want := range Run(Problem{Stencil: s, DType: Float64, Size: size}, d, steps).Fields {
			for i := range want.Len() {
				ok, got, due := false, "", ""
				if s.DType.Floating() {
					var v string
					if _, err := fmt.Fscan(r, &v); err != nil {
						t.Fatal(err)
					}
					var g float64
					if _, err := fmt.Sscan(strings.Replace(v, "-nan", "nan", 1), &g); err != nil {
						t.Fatal(err)
					}
					w := want.Float[i]
					ok = same(g, w) || math.Abs(g-w) <= 1e-12*math.Abs(w)
					got, due = fmt.Sprint(g), fmt.Sprint(w)
				} else {
					var v int64
					if _, err := fmt.Fscan(r, &v); err != nil {
						t.Fatal(err)
					}
					ok = v == want.Int[i]
					got, due = fmt.Sprint(v), fmt.Sprint(want.Int[i])
				}
				if !ok && wrong < 3 {
					wrong++
					t.Errorf("%s: field %d, cell %d is %s by the generated text, %s by the reference\n%s\n%s", s.Name, f, i, got, due, s.Text(), CellSource(s))
				}
			}
		}
	}
}

func TestGeneratedTextComputesWhatTheReferenceComputes(t *testing.T) {
	var all []*Stencil
	for _, name := range Names() {
		all = append(all, lookup(t, name))
	}
	for i, src := range []string{
		"NumDimensions 2 StencilSize (2, 3) Boundary mirror CellValue { return get(-2, 3) - 0.5 * get(2, -3); }",
		"NumDimensions 3 StencilSize (9, 9, 9) Boundary wrap DataType int16 ReadOnly (a) CellValue { return 3 * get(-9, 9, -5) - get(a, 9, 1, -9); }",
		"NumDimensions 2 StencilSize (2, 1) Boundary fixed CellValue { return get(-2, 0) + get(1, 0) - get(0, 1); }",
		"NumDimensions 1 StencilSize (3) Boundary constant -2.5 CellValue { return get(-3) + get(3); }",
		"NumDimensions 1 StencilSize (1) Fields (u, v) ReadOnly (w) Boundary mirror CellValue { return get(v, 1) + get(w, -1), get(u, -1) * 0.5; }",
		"NumDimensions 2 StencilSize (1, 1) DataType int64 Fields (u, v) CellValue (v) { return get(u, 1, 0) * get(v, 0, 1) + x; } EdgeValue u { return value + x * y; } EdgeValue v { return iteration; }",
		"NumDimensions 1 StencilSize (1) DataType uint8 CellValue { float mean = (get(-1) + get(0) + get(1)) / 3.0f; return mean * 1.7f; }",
		"NumDimensions 1 StencilSize (1) DataType unsigned int CellValue { return get(-1) - get(1) > 5 ? get(0) / (get(1) - 3) : get(0) % (x + 1); }",
	} {
		s := mustParse(t, src)
		s.Name = fmt.Sprint("case ", i)
		all = append(all, s)
	}
	compareWithC(t, all)
}

// randomValue writes a random expression of the language.
func randomValue(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	if depth == 0 {
		return pick("get(0)", "get(-1)", "get(2)", "x", "iteration", "input_size.x", "3", "7", "0.5", "2147483647", "a", "k", "(k - 2)")
	}
	sub := func() string { return randomValue(r, depth-1) }
	switch r.IntN(9) {
	case 0:
		return "-(" + sub() + ")"
	case 1:
		return "(" + sub() + pick("<", "<=", "==", "!=", "&&", "||") + sub() + ")"
	case 2:
		return "(" + sub() + " ? " + sub() + " : " + sub() + ")"
	case 3:
		return "(" + pick("int", "float", "unsigned char", "int64", "uint64", "short", "unsigned") + ")(" + sub() + ")"
	case 4:
		return pick("min", "max") + "(" + sub() + ", " + sub() + ")"
	case 5:
		return "abs(" + sub() + ")"
	case 6:
		return "!(" + sub() + ")"
	}
	return "(" + sub() + pick("+", "-", "*", "/", "%", "+", "*") + sub() + ")"
}

func TestRandomProgramsCompileAndComputeWhatTheReferenceComputes(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 1))
	types := []DType{Float64, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64}
	var all []*Stencil
	for tries := 0; len(all) < 90; tries++ {
		d := types[len(all)%len(types)]
		src := fmt.Sprintf("NumDimensions 1 StencilSize (2) DataType %s CellValue {\n float a = %s; int k = %s;\n if (%s) { a += %s; } else k -= %s;\n return %s + get(0); }",
			d, "get(1)", "x", randomValue(r, 2), randomValue(r, 2), randomValue(r, 2), randomValue(r, 4))
		s, err := Parse(fmt.Sprint("random ", len(all)), "random.sl", src)
		if err != nil {
			if !strings.Contains(err.Error(), "division by zero") && !strings.Contains(err.Error(), "use fmod") && !strings.Contains(err.Error(), "drops its fraction") {
				t.Fatal(err)
			}
			continue
		}
		all = append(all, s)
		if tries > 10000 {
			t.Fatal("hardly any program is accepted")
		}
	}
	compareWithC(t, all)
}
