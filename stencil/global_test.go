package stencil

import (
	"fmt"
	"strings"
	"testing"
)

const minmod = "double minmod(double a, double b) { if (a * b <= 0) return 0; if (fabs(a) < fabs(b)) return a; return b; }\n"

func TestFunctionsConstantsAndArraysAreExpanded(t *testing.T) {
	for _, c := range []struct{ name, globals, cell, want string }{
		{"a constant of the file", "const float W = 1.0 / 4, V = -W; const int N = 1 + 1;\n", "return W * get(N) + V;",
			"return T(0.25) * get(2, 0, 0) + T(-0.25);\n"},
		{"a macro that names a number", "#define W 0.25f\n#define N (-1) // note\n", "return W * get(N);", "return T(0.25) * get(-1, 0, 0);\n"},
		{"a whole constant takes the other operand's type", "#define N 3\n", "return get(0) / N;", "return get(0, 0, 0) / T(3.0);\n"},
		{"what a function returns stands for the call", "float twice(float a) { return 2 * a; }\n", "return twice(get(1)) - twice(get(0));",
			"return T(2.0) * get(1, 0, 0) - T(2.0) * get(0, 0, 0);\n"},
		{"an argument is computed once", "float square(float a) { return a * a; }\n", "return square(get(1) - get(0));",
			"T v0 = get(1, 0, 0) - get(0, 0, 0);\nreturn v0 * v0;\n"},
		{"returns become a choice", minmod, "return minmod(get(1), get(0));",
			"return get(1, 0, 0) * get(0, 0, 0) <= T(0.0) ? T(0.0) : (fabs(get(1, 0, 0)) < fabs(get(0, 0, 0)) ? get(1, 0, 0) : get(0, 0, 0));\n"},
		{"returns beside other statements set a variable", "float f(float a) { float s = a; if (a > 0) { if (a > 1) return s; s = 3; } else return 2; s += 1; return s; }\n",
			"return f(get(0));",
			"T v0 = get(0, 0, 0);\nT v1 = T(0.0);\nif (get(0, 0, 0) > T(0.0)) {\n  if (get(0, 0, 0) > T(1.0)) {\n    v1 = v0;\n  } else {\n    v0 = T(3.0);\n    v0 = v0 + T(1.0);\n    v1 = v0;\n  }\n} else {\n  v1 = T(2.0);\n}\nreturn v1;\n"},
		{"a parameter that is set is a variable", "float f(float a) { a += 1; return a; }\n", "float a = get(0); return f(a) + a;",
			"T v0 = get(0, 0, 0);\nT v1 = v0;\nv1 = v1 + T(1.0);\nreturn v1 + v0;\n"},
		{"a constant argument is known", "float at(int d) { return get(d) - get(-d); }\n", "float s = 0; for (int i = 1; i <= 2; i++) s += at(i); return s;",
			"T v0 = T(0.0);\nv0 = v0 + (get(1, 0, 0) - get(-1, 0, 0));\nv0 = v0 + (get(2, 0, 0) - get(-2, 0, 0));\nreturn v0;\n"},
		{"names are the function's own", "float f(float x, float a) { float b = a + x; return b; }\n", "float a = get(1), b = 2; return f(a, b) + f(b, a) + x;",
			"T v0 = get(1, 0, 0);\nT v1 = T(2.0);\nT v2 = v1 + v0;\nT v3 = v0 + v1;\nreturn v2 + v3 + T(px);\n"},
		{"functions call each other", minmod + "double three(double a, double b, double c) { return minmod(a, minmod(b, c)); }\n", "return three(get(0), 1, 2);",
			"return get(0, 0, 0) * T(1.0) <= T(0.0) ? T(0.0) : (fabs(get(0, 0, 0)) < fabs(T(1.0)) ? get(0, 0, 0) : T(1.0));\n"},
		{"calls come before their statement", "float f(float a) { float s = a + 1; return s * s; }\n", "float a = f(get(1)), b = f(a); if (f(b) > a) return f(get(0)); return a;",
			"T v0 = get(1, 0, 0) + T(1.0);\nT v1 = v0 * v0;\nT v2 = v1 + T(1.0);\nT v3 = v2 * v2;\nT v4 = v3 + T(1.0);\nif (v4 * v4 > v1) {\n  T v5 = get(0, 0, 0) + T(1.0);\n  return v5 * v5;\n}\nreturn v1;\n"},
		{"a call that a constant rules out is no code", "float f(float a) { float s = a + get(2); return s * s; }\n", "return 1 > 2 ? f(get(1)) : get(0);", "return get(0, 0, 0);\n"},
		{"conditions", "bool wall(float s) { return s > 0.5; }\n", "bool w = wall(get(1)) || wall(get(0)); return w ? 1 : get(0);",
			"bool v0 = get(1, 0, 0) > T(0.5) || get(0, 0, 0) > T(0.5);\nreturn v0 ? T(1.0) : get(0, 0, 0);\n"},
		{"an array is its elements", "", "double w[3] = {0.25, 0.5}; float s = 0; for (int i = 0; i < 3; i++) s += w[i] * get(i - 1); return s;",
			"T v0 = T(0.25);\nT v1 = T(0.5);\nT v2 = T(0.0);\nT v3 = T(0.0);\nv3 = v3 + v0 * get(-1, 0, 0);\nv3 = v3 + v1 * get(0, 0, 0);\nv3 = v3 + v2 * get(1, 0, 0);\nreturn v3;\n"},
		{"an array of the file", "const int d[] = {-1, 1}; const float w[2][2] = {{1}, {2, 3}};\n", "return w[1][0] * get(d[0]) + w[1][1] * get(d[1]);",
			"return T(2.0) * get(-1, 0, 0) + T(3.0) * get(1, 0, 0);\n"},
		{"elements are set", "", "float v[2]; v[0] = get(1); v[1] += v[0]; v[0]++; return v[0] * v[1];",
			"T v0 = T(0.0);\nT v1 = T(0.0);\nv0 = get(1, 0, 0);\nv1 = v1 + v0;\nv0 = v0 + T(1.0);\nreturn v0 * v1;\n"},
		{"an array is handed on", "float dot(const float a[], float b[2]) { return a[0] * b[0] + a[1] * b[1]; } const float W[2] = {2, 3};\n",
			"float v[2] = {get(0), get(1)}; return dot(W, v);", "T v0 = get(0, 0, 0);\nT v1 = get(1, 0, 0);\nreturn T(2.0) * v0 + T(3.0) * v1;\n"},
		{"C89's loops", "", "int i, j; float s; for (i = 0; i < 2; i++) for (j = 0; j <= i; ++j) s += get(j) * i; return s;",
			"T v2 = T(0.0);\nv2 = v2 + get(0, 0, 0) * T(0.0);\nv2 = v2 + get(0, 0, 0) * T(1.0);\nv2 = v2 + get(1, 0, 0) * T(1.0);\nreturn v2;\n"},
		{"what a loop leaves", "", "int i; for (i = 0; i < 2; i++) ; return get(0) * i;", "int v0 = 0;\nv0 = 2;\nreturn get(0, 0, 0) * T(v0);\n"},
	} {
		s, err := Parse("s", "s.sl", c.globals+line(c.cell))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := CellSource(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if after := mustParse(t, line(c.cell)+c.globals); after.Hash != s.Hash {
			t.Errorf("%s: means something else at the end of the file", c.name)
		}
	}
}

func TestFaultsOfFunctionsConstantsAndArrays(t *testing.T) {
	for _, c := range []struct{ globals, cell, want string }{
		{"float f(float a) { return f(a); }", "return f(get(0));", "1:27: f calls itself; a function is expanded where it is called, so use a loop with constant bounds (in f, called at 4:20)"},
		{"float f(float a) { if (a > 0) return 1; }", "return f(get(0));", "1:41: f must end with return (in f, called at 4:20)"},
		{"float f(float a) { return 1, 2; }", "return f(get(0));", `1:28: want ";" here, found ","; a statement sets or returns one value (in f, called at 4:20)`},
		{"float f(float a) { return b; }", "float b = 1; return f(get(0));", `1:27: unknown name "b"; declare it first, like float b = ... (in f, called at 4:33)`},
		{"float f(float a) { return a; }", "return f(get(0), 1);", `4:28: f(a) takes 1 value, found ","`},
		{"float f(float a, float b) { return a; }", "return f(get(0));", `4:28: f(a, b) takes 2 values, found ")"`},
		{"float f() { return get(0); }", "return f(1);", `4:22: f() takes 0 values, found "1"`},
		{"float f(float a) { return a; }", "f(1); return get(0);", `4:13: "f" computes a value, which nothing takes; assign it`},
		{"float f(float *a) { return a; }", "return get(0);", "1:15: there are no pointers; an array is a parameter as in float w[3]"},
		{"float f(float a); ", "return get(0);", `1:17: want "{" here, found ";"; a function stands once, with its body`},
		{"void f(float a) { }", "return get(0);", "1:1: void is not in the language; a function returns a value, of several one by its number: float flux(int k) { ... }"},
		{"static float f(float a) { return a; }", "return get(0);", "1:1: static is not in the language; remove it"},
		{"float fmax(float a) { return a; }", "return get(0);", `1:7: want the name of a new variable here, found "fmax", which is a word of the language; choose another`},
		{"float W = 2;", "return W * get(0);", "1:1: a variable outside of blocks is a constant; write const float"},
		{"const float W = x;", "return W * get(0);", "1:17: a constant outside of blocks is made of numbers; declare this one in the function that uses it"},
		{"const float W = 1e300 * 1e300;", "return W * get(0);", "1:17: this constant is +Inf; want a number in range"},
		{"const float W;", "return W * get(0);", `1:14: want "=" here, found ";": a constant has a value`},
		{"const float W = 1;", "float W = 2; return get(0);", "4:19: W is declared twice"},
		{"const float W = 1;", "W = 2; return get(0);", `4:13: "W" is constant here; declare another variable`},
		{"#define SQUARE(a) ((a) * (a))", "return get(0);", "1:1: of #define only names of numbers are read; write a function, float SQUARE(float a) { return ...; }"},
		{"#define W a + 1", "return get(0);", "1:1: of #define only names of numbers are read; write const float W = a + 1;"},
		{"", "#define N 3\nreturn get(0);", "4:13: #define stands outside of blocks; here declare a constant, like const float N = 3;"},
		{"", "float w[2] = {1, 2, 3}; return get(0);", "4:33: more values than w has elements"},
		{"", "float w[2]; return w[2];", "4:34: w has no element 2: it has 2, from 0 on"},
		{"", "float w[2]; return w[sqrt(2)];", "4:34: the index of w must be known here: a number, a loop's variable or const int; choose between elements with ?:, or index a ReadOnly array: read(name, i)"},
		{"", "float w[2]; return w[x];", "4:34: the index of w must be known here: a number, a loop's variable or const int; choose between elements with ?:, or index a ReadOnly array: read(name, i)"},
		{"", "float w[2]; return w;", `4:33: w is an array; want "[" and an element's index here, found ";"`},
		{"", "float w[x]; return get(0);", "4:21: an array's length must be a constant: a number or const int"},
		{"", "float w[1000]; return get(0);", "4:21: an array has 1 to 256 elements"},
		{"", "float w[]; return get(0);", "4:19: w needs its length, or its values: w[] = {1, 2}"},
		{"", "float w; return w[0];", "4:29: w is no array"},
		{"", "const float w = get(0); w = 1; return w;", `4:37: "w" is constant here; declare another variable`},
		{"float f(float w[3]) { return w[0]; }", "float w[2]; return f(w);", "4:34: w has [2] elements, w of f(w[]) has [3]"},
		{"float f(float w[3]) { w[0] = 1; return 2; }", "float w[3]; return f(w);", `1:23: "w" is constant here; declare another variable (in f, called at 4:32)`},
		{"float f(float w[3]) { return w[0]; }", "return f(get(0));", `4:22: want the name of an array of the same type here, for w of f(w[]), found "get"`},
	} {
		_, err := Parse("s", "s.sl", c.globals+"\n"+line(c.cell))
		if err == nil {
			t.Errorf("%s %s: accepted", c.globals, c.cell)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != "s.sl:"+c.want {
			t.Errorf("%s %s:\n got %s\nwant s.sl:%s", c.globals, c.cell, got, c.want)
		}
	}
}

func TestFunctionsThatBranchComputeWhatTheyReturn(t *testing.T) {
	functions := `
float tree(float a, float b) {
  float s = a;
  if (a > 0.5) { if (b > 0.5) return s + 1; s = b; } else if (b < 0.2) return -s;
  for (int i = 0; i < 3; i++) { s = 2 * s; if (s > 1) return s; }
  return s - b;
}
`
	with := mustParse(t, functions+line("return tree(get(0), get(1)) + tree(get(1), get(0)) * (get(0) > get(1) ? tree(1, get(0)) : 0);"))
	n := Size{257, 1, 1}
	in := Fill(3, n.Cells())
	for i := range in {
		in[i] = (in[i] + 1) / 2
	}
	tree := func(a, b float64) float64 {
		s := a
		if a > 0.5 {
			if b > 0.5 {
				return s + 1
			}
			s = b
		} else if b < 0.2 {
			return -s
		}
		for range 3 {
			s = 2 * s
			if s > 1 {
				return s
			}
		}
		return s - b
	}
	want := make([]float64, len(in))
	for i, c := range in {
		r := in[min(i+1, len(in)-1)]
		want[i] = tree(c, r) + tree(r, c)*map[bool]float64{true: tree(1, c)}[c > r]
	}
	nearly(t, Reference(Problem{Stencil: with, DType: Float64, Size: n}, in, 1), want)
}

// hardestFunctions are files whose functions grow when they are expanded.
func hardestFunctions() map[string]string {
	var twice, partly strings.Builder
	twice.WriteString("float f0(float a) { return a + 1; }\n")
	for i := range 60 {
		fmt.Fprintf(&twice, "float f%d(float a) { return f%d(a) * f%d(a + 1); }\n", i+1, i, i)
	}
	partly.WriteString("float f(float a) { float s = a; ")
	for i := range 200 {
		fmt.Fprintf(&partly, "if (a > %d) { s = s + 1; if (s > %d) return s; } ", i, i)
	}
	partly.WriteString("return s; }\n")
	return map[string]string{
		"functions that call twice":   twice.String() + line("return f60(get(0));"),
		"branches that return partly": partly.String() + line("return f(get(0));"),
		"returns of a loop":           "float f(float a) { for (int i = 0; i < 1000; i++) if (a > i) return i; return a; }" + line("return f(get(0));"),
		"large arrays":                line("float a[16][16]; for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) a[i][j] = get(1) * i; float s; for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) s += a[j][i]; return s;"),
	}
}
