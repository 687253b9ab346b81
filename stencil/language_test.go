package stencil

import (
	"fmt"
	"strings"
	"testing"
)

func TestConstructsPrintByTheContract(t *testing.T) {
	integers := func(cell string) string {
		return "NumDimensions 1 StencilSize (2) DataType int CellValue { " + cell + " }"
	}
	for _, c := range []struct{ name, src, want string }{
		{"loops unroll", line("float s = 0; for (int i = -1; i <= 1; i += 2) s += i * get(i); return s;"),
			"T v0 = T(0.0);\nv0 = v0 + T(-1.0) * get(-1, 0, 0);\nv0 = v0 + T(1.0) * get(1, 0, 0);\nreturn v0;\n"},
		{"bounds may be const", line("const int r = 2; float s = 0; for (int i = -r; i <= r; i = i + 2 * r) { s += get(i); } return s;"),
			"T v0 = T(0.0);\nv0 = v0 + get(-2, 0, 0);\nv0 = v0 + get(2, 0, 0);\nreturn v0;\n"},
		{"a loop may end beyond the longest reach", "NumDimensions 1 StencilSize (16) CellValue { float s = 0; for (int i = 14; i <= 16; i += 2) s += get(i) + get(-i); return s; }",
			"T v0 = T(0.0);\nv0 = v0 + (get(14, 0, 0) + get(-14, 0, 0));\nv0 = v0 + (get(16, 0, 0) + get(-16, 0, 0));\nreturn v0;\n"},
		{"dead branches go", line("float s = get(0); for (int i = 0; i < 2; ++i) if (i == 1) s *= get(i); else if (i > 5) s = get(2); return s;"),
			"T v0 = get(0, 0, 0);\nv0 = v0 * get(1, 0, 0);\nreturn v0;\n"},
		{"branches", line("float a = get(0); if (a > 1 && !(a >= 2)) { float b = a; a -= b; } else a--; return a;"),
			"T v0 = get(0, 0, 0);\nif (v0 > T(1.0) && !(v0 >= T(2.0))) {\n  T v1 = v0;\n  v0 = v0 - v1;\n} else {\n  v0 = v0 - T(1.0);\n}\nreturn v0;\n"},
		{"early return", line("if (get(0) != 0) return 1; return get(1);"), "if (get(0, 0, 0) != T(0.0)) {\n  return T(1.0);\n}\nreturn get(1, 0, 0);\n"},
		{"selection", line("return get(0) < 0 ? -get(0) : get(1) == 2 ? 3 : x;"),
			"return get(0, 0, 0) < T(0.0) ? -get(0, 0, 0) : T(get(1, 0, 0) == T(2.0) ? 3 : px);\n"},
		{"position", "NumDimensions 2 StencilSize (1, 1) CellValue { return get(0, 0) + (x + y * input_size.x) / 2 - iteration % 2; }",
			"return get(0, 0, 0) + T(wrap_add(px, wrap_mul(py, nx)) / 2) - T(iteration % 2);\n"},
		{"whole literals beyond int", line("return x < 3000000000 && x > -3000000000 ? get(0) : max(x, 3000000000) + iteration % 5000000000 + 4000000000 * x;"),
			"return (long long)px < 3000000000ll && (long long)px > (-3000000000ll) ? get(0, 0, 0) : T(wrap_add(wrap_add(int_max((long long)px, 3000000000ll), (long long)iteration % 5000000000ll), wrap_mul(4000000000ll, (long long)px)));\n"},
		{"functions", line("return powf(get(0), 2) + min(get(1), 3) + abs(get(2)) + fabsf(get(0)) + abs(x) + max(x, 3);"),
			"return pow(get(0, 0, 0), T(2.0)) + fmin(get(1, 0, 0), T(3.0)) + fabs(get(2, 0, 0)) + fabs(get(0, 0, 0)) + T(int_abs(px)) + T(int_max(px, 3));\n"},
		{"casts", line("return (int)get(0) + (float)(x / 3) + (double)get(1) + (int)2.9;"),
			"return T(to_integer(get(0, 0, 0), (-2147483647 - 1), 2147483647)) + T(px / 3) + get(1, 0, 0) + T(2.0);\n"},
		{"indices that functions make of a loop's variable", "const float near[3] = {1, 2, 3}; " +
			line("float s = 0; for (int i = -1; i <= 1; i++) s += near[abs(i)] * near[fmin(i, 0) + 1] * near[(int)fmax(i, 0)] * near[max(min(i, 1), i < 0 ? 2 : 0)] * get(i < 0 ? 2 : abs(-i)); return s;"),
			"T v0 = T(0.0);\nv0 = v0 + T(2.0) * T(1.0) * T(1.0) * T(3.0) * get(2, 0, 0);\nv0 = v0 + T(1.0) * T(2.0) * T(1.0) * T(1.0) * get(0, 0, 0);\nv0 = v0 + T(2.0) * T(2.0) * T(2.0) * T(2.0) * get(1, 0, 0);\nreturn v0;\n"},
		{"variables whose values are known", "const float w[5] = {1, 2, 3, 4, 5}; int next(int i) { int k = i + 1; return k; } " +
			line("int n = 0; float s = 0; for (int i = -1; i < 2; i++) { int k = i + 2; if (k > 1) s += w[k]; s += w[n] * get(next(i) - 1); n++; } return s * w[n];"),
			"T v1 = T(0.0);\nv1 = v1 + T(1.0) * get(-1, 0, 0);\nv1 = v1 + T(3.0);\nv1 = v1 + T(2.0) * get(0, 0, 0);\nv1 = v1 + T(4.0);\nv1 = v1 + T(3.0) * get(1, 0, 0);\nreturn v1 * T(4.0);\n"},
		{"a variable that a branch sets is known in it, and before it", line("int k = 1, l = k; if (get(0) > 0) { k = l + 1; return get(k); } else l = k - 1; return get(l < 9 ? 0 : 1) + k;"),
			"int v0 = 1;\nint v1 = v0;\nif (get(0, 0, 0) > T(0.0)) {\n  v0 = wrap_add(v1, 1);\n  return get(2, 0, 0);\n}\nreturn get(0, 0, 0) + T(v0);\n"},
		{"branches by known numbers", "const float A = 0.5; " + line("const float b = A * 2; if (b == 1 && A < b && get(0) > 0) return get(1); if (A > 0 || get(2) > 0) return get(b > 2 ? 2 : -1); float c = get(2); return c;"),
			"if (get(0, 0, 0) > T(0.0)) {\n  return get(1, 0, 0);\n}\nreturn get(-1, 0, 0);\n"},
		{"what follows a branch that is always taken", "float f(int i) { if (i == 0) return get(0); float a = get(i); return a * 2; } " + line("return f(0) + f(1);"),
			"T v0 = get(1, 0, 0);\nreturn get(0, 0, 0) + v0 * T(2.0);\n"},
		{"a branch by them", line("float s = 0; for (int i = -1; i <= 1; i++) if (abs(i) == 1) s += get(i); return s;"),
			"T v0 = T(0.0);\nv0 = v0 + get(-1, 0, 0);\nv0 = v0 + get(1, 0, 0);\nreturn v0;\n"},
		{"scalars", line("return a * get(0) + n;") + "ScalarVariables (float a = 0.5, int n)", "return s_0 * get(0, 0, 0) + T(s_1);\n"},
		{"scalars that share a type", line("return a * get(0) + b + n;") + "ScalarVariables (float a = 0.5, b, int n)", "return s_0 * get(0, 0, 0) + s_1 + T(s_2);\n"},
		{"no scalars", line("return get(0);") + "ScalarVariables ( )", "return get(0, 0, 0);\n"},
		{"a comparison is a number", line("return (get(0) > 0) + (get(1) > 0);"),
			"return T(wrap_add((int)(get(0, 0, 0) > T(0.0)), (int)(get(1, 0, 0) > T(0.0))));\n"},
		{"signed integers wrap", integers("return get(0) + get(1) * 2 - -get(2);"),
			"return wrap_sub(wrap_add(get(0, 0, 0), wrap_mul(get(1, 0, 0), 2)), wrap_neg(get(2, 0, 0)));\n"},
		{"divisors that may be zero", integers("return get(0) / get(1) + get(0) % 3 + get(1) / -1;"),
			"return wrap_add(wrap_add(divide(get(0, 0, 0), get(1, 0, 0)), get(0, 0, 0) % 3), divide(get(1, 0, 0), (-1)));\n"},
		{"unsigned integers are C's", strings.Replace(integers("return -get(0) * (get(1) + 1) / 2;"), "int", "unsigned int", 1),
			"return -get(0, 0, 0) * (get(1, 0, 0) + 1u) / 2u;\n"},
		{"narrow integers are computed in int", strings.Replace(integers("return get(0) + 1;"), "int", "int8", 1), "return (signed char)wrap_add((int)get(0, 0, 0), 1);\n"},
		{"read at the own cell", line("return get(0) + read(x);"), "return get(0, 0, 0) + ro_0(0, 0, 0);\n"},
		{"read by index", line("return get(0) + read(2 * x);"), "return get(0, 0, 0) + read_0(wrap_mul(2ll, (long long)px));\n"},
		{"fields and arrays", line("return get(u, 1) + get(w, -1), get(v, 0);") + "Fields (u, v) ReadOnly (k, w)",
			"out_0 = get_0(1, 0, 0) + ro_1(-1, 0, 0);\nout_1 = get_1(0, 0, 0);\nreturn;\n"},
	} {
		s, err := Parse("s", "s.sl", c.src)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := CellSource(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What integers are compared with is exact: no reciprocal, approximation or contraction may stand for an operation of theirs.
func TestIntegersAreComputedAsInC(t *testing.T) {
	for cell, want := range map[string]string{
		"return (int)(get(0) / 49.0);":                               "return to_integer(double(get(0, 0, 0)) / double(49.0), (-2147483647 - 1), 2147483647);\n",
		"return (int)(get(0) / sqrt(get(1) + 1.0f));":                "return to_integer(float(get(0, 0, 0)) / sqrt(float(get(1, 0, 0)) + float(1.0)), (-2147483647 - 1), 2147483647);\n",
		"return (int)(0.5f * get(0) + get(1) / (1.0f + iteration));": "return to_integer(rounded_mul(float(0.5), float(get(0, 0, 0))) + float(get(1, 0, 0)) / (float(1.0) + float(iteration)), (-2147483647 - 1), 2147483647);\n",
	} {
		s := mustParse(t, "NumDimensions 1 StencilSize (2) DataType int CellValue { "+cell+" }")
		if got := StageCode(s, 0); got != want {
			t.Errorf("%s:\n got %s\nwant %s", cell, got, want)
		}
	}
}

func TestEdgeAndReducePrintByTheContract(t *testing.T) {
	s := mustParse(t, line("return get(0);")+"EdgeValue { if (x < 0) return 2 * value; return value + read(x); } Reduce max { return fabs(value - get(0)); }")
	if got, want := EdgeSource(s, 0), "if (px < 0) {\n  return T(2.0) * value;\n}\nreturn value + read_0((long long)px);\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := ReduceSource(s), "return fabs(value_0 - get(0, 0, 0));\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHashesOfPlainStencilsAreThoseOfTheFirstLanguage(t *testing.T) {
	for name, want := range map[string]string{
		"jacobi2d": "5b8d798d6c711471583b5e557dab416d6400e5c9dfb9dd7250edf7f5e022f6a6",
		"jacobi3d": "0a3947fa34bdce69233463cac985e6267f0404b08084a9dfa0864dab1ec4d445",
	} {
		if got := lookup(t, name).Hash; got != want {
			t.Errorf("%s has hash %s, want %s: stored results would be lost", name, got, want)
		}
	}
}

func TestHashCoversEveryKey(t *testing.T) {
	base := line("return get(u, 0) * a, get(v, 1);") + "Fields (u, v) ScalarVariables (float a = 2) Boundary constant 1 Reduce sum { return value(u); } Until < 1 every 2"
	seen := map[string]string{mustParse(t, base).Hash: "base"}
	for _, change := range [][2]string{
		{"a = 2", "a = 3"}, {"float a", "int a"}, {"constant 1", "constant 2"}, {"constant 1", "wrap"}, {"Reduce sum", "Reduce max"},
		{"value(u)", "value(v)"}, {"every 2", "every 3"}, {"< 1", "> 1"}, {"CellValue {", "CellValue (v, u) {"}, {"get(v, 1)", "get(u, 1)"},
	} {
		src := strings.Replace(base, change[0], change[1], 1)
		h := mustParse(t, src).Hash
		if other, twice := seen[h]; twice {
			t.Errorf("%s: same hash as %s", change[1], other)
		}
		seen[h] = change[1]
	}
}

// An array along an axis has as many elements as that, one read by index as many as the grid.
func TestHashTellsArraysAlongAnAxis(t *testing.T) {
	const file = "NumDimensions 2 StencilSize (0, 0) ReadOnly (%s) CellValue { return get(0, 0) + %s; }"
	along, whole := mustParse(t, fmt.Sprintf(file, "k[x]", "get(k, 1)")), mustParse(t, fmt.Sprintf(file, "k", "read(k, min((int64)x + 1, (int64)input_size.x - 1))"))
	if CellSource(along) != CellSource(whole) || along.Hash == whole.Hash {
		t.Errorf("%s: %s\n%s: %s", along.Hash, CellSource(along), whole.Hash, CellSource(whole))
	}
}

func TestFaultsOfTheLanguageAreShownWhereTheyStand(t *testing.T) {
	for _, c := range []struct{ cell, tail, want string }{
		{"while (1) ; return get(0);", "", `s.sl:3:13: while is not in the language; use for with constant bounds`},
		{"for (int i = 0; i < 9; i++) break; return get(0);", "", `s.sl:3:41: break is not in the language; use if`},
		{"for (int i = 0; i < get(0); i++) ; return get(0);", "", `s.sl:3:29: a loop's bounds must be constants, so that it can be unrolled; use numbers and const int; the loops over cells and steps are left out`},
		{"for (int i = 0; i >= 0; i++) ; return get(0);", "", `s.sl:3:42: loops and functions expand to more than 200000 tokens; shorten them`},
		{"for (int i = 2; i < 9; i += 0) ; return get(0);", "", `s.sl:3:22: the loop never ends: i stays 2`},
		{"for (float i = 0; i < 1; i++) ; return get(0);", "", `s.sl:3:18: a loop counts in an integer type; use int`},
		{"float i; for (i = 0; i < 1; i++) ; return get(0);", "", `s.sl:3:27: declare the loop's variable here, like int i = 0`},
		{"int i = 1; if (get(0) > 0) i = 0; return get(i);", "", `s.sl:3:58: the offsets of get must be whole numbers known here, found "i"; use const int, or choose between several get() with ?:`},
		{"for (int i = 0; i < 2; i++) i = 3; return get(0);", "", `s.sl:3:41: "i" is constant here; declare another variable`},
		{"int i = x; return get(i);", "", `s.sl:3:35: the offsets of get must be whole numbers known here, found "i"; use const int, or choose between several get() with ?:`},
		{"return get(0) % 2;", "", `s.sl:3:27: % is for integers; use fmod`},
		{"return 1 / 3 * get(0);", "", `s.sl:3:22: in C this quotient of whole numbers drops its fraction; write one of them with a point`},
		{"return x / 0 + get(0);", "", `s.sl:3:22: division by zero`},
		{"return get(0) & 1;", "", `s.sl:3:27: character '&' has no meaning here: there are no operations on bits; x & 1 is x % 2, a power is pow(a, 2), and conditions are joined by && and ||`},
		{"return --get(0);", "", `s.sl:3:20: -- changes a variable, which only a statement may; write two signs apart`},
		{"if (get(0)) { float a = 1; } return a;", "", `s.sl:3:49: unknown name "a"; declare it first, like float a = ...`},
		{"float a = 1; if (a) { float a = 2; } return get(0);", "", `s.sl:3:41: a is declared twice`},
		{"float a = 1; return a * f(get(u, 0));", "Fields (u, a)", `s.sl:3:19: a is a field, which nothing may hide; choose another name`},
		{"return f(get(u, 0));", "Fields (u)\nReadOnly (k)\nfloat f(float k) { return k; }", `s.sl:6:15: k is a read-only array, which nothing may hide; choose another name`},
		{"if (get(0) > 0) return 1;", "", `s.sl:3:39: CellValue must end with return`},
		{"else return 1;", "", `s.sl:3:13: else without if`},
		{"return value;", "", `s.sl:3:20: unknown name "value"; declare it first, like float value = ...`},
		{"return get(0) + input_size.w;", "", `s.sl:3:40: input_size has x, y and z, not "w"`},
		{"return get(0) + read(0.5);", "", `s.sl:3:29: read takes the index of an element; convert it with (int)`},
		{"return get(u, 0);", "Fields (u, v)", `s.sl:3:29: want 2 values, one for each output, found ";" after 1; a function that sets some fields alone names them, like CellValue (u)`},
		{"return get(0), 1;", "Fields (u, v)", `s.sl:3:24: get which field? write get(u, ...)`},
		{"u = 1; return get(u, 0), 1;", "Fields (u, v)", `s.sl:3:13: "u" may only be read; return a field's new value: all cells change at once, none sees what its neighbour becomes; half sweeps in place (red-black) are stages with a Color`},
		{"return get(u, 0) + u, 1;", "Fields (u, v)", `s.sl:3:32: "u" is an array; read it with get(u, 0), at offsets from the own cell`},
		{"return get(0);", "Fields (u, u)", `s.sl:4:12: u is declared twice`},
		{"return get(0);", "Fields (x)", `s.sl:4:9: want the name of a field here, found "x", which is a word of the language; choose another`},
		{"return get(0);", "Stages (a)", `s.sl:4:1: stage a has no CellValue; add CellValue a { ... }`},
		{"return get(0);", "CellValue { return get(1); }", `s.sl:4:1: CellValue is given twice; name several with Stages (first, second)`},
		{"return get(0);", "EdgeValue { return get(0); }", `s.sl:4:20: EdgeValue may not call get(); value is the nearest cell inside; what needs other cells is said in CellValue, where the edge's cells are those of x == 0 and so on`},
		{"return get(0);", "EdgeValue { return value; } EdgeValue { return 1; }", `s.sl:4:29: EdgeValue is given twice; remove one`},
		{"return get(0);", "EdgeValue { return value; } Boundary wrap", `s.sl:4:38: Boundary and EdgeValue both say what lies outside; remove one`},
		{"return get(0);", "Until < 1", `s.sl:4:1: Until compares what Reduce computes; add Reduce`},
		{"return get(0);", "Reduce mean { return value; }", `s.sl:4:8: want sum, min or max here, found "mean"`},
		{"return get(0);", "Points ((0), (1))", `s.sl:4:1: Points lists (1), which no get() reads; remove it`},
		{"return get(0) + get(-1);", "Points ((0))", `s.sl:4:1: Points does not list (-1), which get() reads; add it`},
		{"return get(0);", "DefaultSize (8, 8)", `s.sl:4:1: DefaultSize has 2 extents, NumDimensions says 1`},
		{"return get(0);", "Steps 0", `s.sl:4:1: Steps must lie in 1..1073741824`},
		{"return get(0);", "DataType int Boundary constant 0.5", `s.sl:4:23: 0.5 is no int32`},
		{"return get(0);", "ScalarVariables (int n = 0.5)", `s.sl:4:26: 0.5 is no int32`},
		{"return 99999999999999999999 * get(0);", "DataType int", `s.sl:3:20: "99999999999999999999" is no whole number from 0 to 9223372036854775807`},
		{"half h = 1; return get(0);", "DataType int", `s.sl:3:13: float16 is an element type only; use float`},
	} {
		_, err := Parse("s", "s.sl", line(c.cell)+c.tail)
		if err == nil {
			t.Errorf("%s %s: accepted", c.cell, c.tail)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.cell, c.tail, got, c.want)
		}
	}
}
