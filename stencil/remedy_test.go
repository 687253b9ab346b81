package stencil

import (
	"strings"
	"testing"
)

// What people type who know C or Fortran: each is refused where it stands, with what to write instead.
func TestRefusalsSayWhatToWrite(t *testing.T) {
	cell := func(text string) string {
		return "NumDimensions 2\nStencilSize (1, 1)\nCellValue { " + text + " }\n"
	}
	key := func(text string) string {
		return text + "\nNumDimensions 2\nStencilSize (1, 1)\nCellValue { return get(0, 0); }\n"
	}
	for _, c := range []struct{ src, want string }{
		{cell("return M_PI * get(0, 0);"), `3:20: unknown name "M_PI"; write const double M_PI = 3.14159265358979323846; outside of the functions`},
		{key("Boundary (x wrap, y clamp)"), `1:11: want a rule here, found "x"; the rules of the axes stand in their order, like (wrap, clamp), or each has a Boundary of its own: Boundary x wrap`},
		{key("Boundary x constant (0, 1)"), `1:21: want the number outside here, like constant 0, found "("; each side has a rule of its own: (constant 0, constant 1)`},
		{key("Boundary x (constant inflow, clamp)"), `1:22: want the number outside here, like constant 0, found "inflow"; what is no number is an EdgeValue, like EdgeValue x low { return inflow; }`},
		{"#define R 1\n" + key("Points ((0, R))"), `2:13: want a number here, found "R"; keys take numbers themselves, no names and no formulas of them`},
		{key("DefaultSize (N, N)"), `1:14: want a whole number here, found "N"; keys take numbers themselves, no names and no formulas of them`},
		{key("ScalarVariables (float dt = 0.1, c = dt / 2)"), `1:38: want a number here, found "dt"; keys take numbers themselves, no names and no formulas of them`},
		{key("DefaultSize 256x256"), `1:13: want "(" here, found "256x256"; the values of DefaultSize stand in parentheses, with commas between them`},
		{key("Fields u, v"), `1:8: want "(" here, found "u"; the values of Fields stand in parentheses, with commas between them`},
		{cell("return 1.0d0 * get(0, 0);"), `3:20: "1.0d0" is not a decimal number in range; numbers are decimal, like 1.5e-3, and have no suffix but f`},
		{cell("float a, b; a = b = 2; return get(0, 0);"), `3:31: want ";" here, found "="; a statement sets one variable`},
		{key("EdgeValue y (low) { return 1; }"), `1:13: want "{" here, found "("; a side stands without parentheses, like y low`},
		{key("InputRange (m: 0, 1)"), `1:13: want a number here, found "m"; an array stands before its range: InputRange m (0, 1)`},
		{key("InputRange m 0 1"), `1:14: want "(" here, found "0"; like (0, 1), or a set of values: {0, 1}`},
		{key("InputRange a (0, 1)\nScalarVariables (float a)"), `1:12: "a" is a scalar: its value is that of ScalarVariables (float a = 1), or of --scalar`},
		{key("ReadOnly (t[x, y])"), `1:14: an array lies along one axis, or has a value for each cell; one of a plane is read by index, like read(t, y * input_size.x + x)`},
		{key("StepScalar b = 2;"), `1:14: want "{" here, found "="; a step scalar that follows from others is StepScalar b { return ...; }`},
		{key("constexpr float w = 2;"), `1:1: constexpr is not in the language; use const`},
		{"ReadOnly (t) Fields (u)\n" + cell("return get(u, 0, 0) * t[x];"), `4:35: "t" is an array; read it with get(t, 0, 0), at offsets from the own cell, or with read(t, i), an element by its index`},
		{"ReadOnly (t)\n" + cell("return get(0, 0) * read(t, x, y);"), `4:41: read takes one index; of a cell of the grid it is y * input_size.x + x`},
		{"Fields (u)\n" + cell("return read(u, x + 1);"), `4:25: "u" is a field, which only get reads, at offsets that are known here; read is of ReadOnly arrays`},
		{cell("return get(0, 0) + Reduce;"), `3:32: no cell can read the number of Reduce; one that they read is a StepScalar, like StepScalar max m { return ...; }`},
		{cell("return std::max(get(0, 0), 1);"), `3:20: functions have no std:: before them; remove it`},
		{cell("for (int i = 0, j = 0; i < 2; i++) ; return get(0, 0);"), `3:27: want ";" here, found ","; a loop has one variable`},
		{cell("for (int i : w) ; return get(0, 0);"), `3:24: want "=" here, found ":"; a loop counts, like for (int i = 0; i < 3; i++)`},
		{cell("bool b = true; return get(0, 0);"), `3:22: unknown name "true"; write 1`},
		{cell("return x == nx - 1 ? 0 : get(0, 0);"), `3:25: unknown name "nx"; the grid's extent is input_size.x; a number of your own is declared with ScalarVariables`},
		{cell("return t * get(0, 0);"), `3:20: unknown name "t"; the time step is iteration, from 1 on; a number of your own is declared with ScalarVariables`},
		{cell("return j * get(0, 0);"), `3:20: unknown name "j"; the cell's coordinates are x, y and z, from 0; of a loop, declare int j`},
		{cell("real(8) a = 1; return get(0, 0);"), `3:13: unknown name "real"; types are C's: float, double, int`},
		{cell("size_t n = 1; return get(0, 0);"), `3:13: unknown name "size_t"; use int or int64`},
		{cell("set(u, 0, 0, 1);"), `3:13: unknown name "set"; a cell function returns the cell's new value: return ...;`},
		{cell("return u[y][x + 1];"), `3:20: unknown name "u"; declare an array with Fields (u), or with ReadOnly (u) if no step changes it, and read it with get(u, 0, 0), at offsets from the own cell`},
		{cell("u[y][x] += 0.25 * u[y][x + 1]; return get(0, 0);"), `3:13: unknown name "u"; declare an array with Fields (u), and return its new value at the own cell: return ...;`},
		{cell("un(i, j) = get(0, 0); return 0;"), `3:13: unknown name "un"; declare an array with Fields (un), and return its new value at the own cell: return ...;`},
		{cell("u[0] == 1; return get(0, 0);"), `3:13: unknown name "u"; declare an array with Fields (u), or with ReadOnly (u) if no step changes it, and read it with get(u, 0, 0), at offsets from the own cell`},
		{cell("for (int y = 1; y < input_size.y - 1; y++) ; return get(0, 0);"), `3:18: the loops over cells are left out: the function is of one cell, at x, y and z; call the variable of another loop i`},
		{cell("for (x = 0; x < 9; x++) ; return get(0, 0);"), `3:18: the loops over cells are left out: the function is of one cell, at x, y and z; call the variable of another loop i`},
		{cell("for (int i = 1; i < input_size.y - 1; i++) ; return get(0, 0);"), `3:29: a loop's bounds must be constants, so that it can be unrolled; use numbers and const int; the loops over cells and steps are left out`},
		{cell("return minmod(get(0, 0), 1);"), `3:20: unknown function "minmod"; write it outside of the cell functions, like float minmod(float a) { return ...; }, or use one of min, max, abs, acos, asin, atan, atan2, cbrt, ceil, cos, cosh, exp, exp2, fabs, floor, fmax, fmin, fmod, log, log10, log2, pow, round, rsqrt, sin, sinh, sqrt, tan, tanh, trunc`},
		{cell("return x == 0 and y == 0 ? 0 : get(0, 0);"), `3:27: want ";" here, found "and"; conditions are joined by && and ||`},
		{cell("return x == 0 .or. y == 0 ? 0 : get(0, 0);"), `3:27: want ";" here, found "."; conditions are joined by && and ||`},
		{cell("if (x = 1) return 0; return get(0, 0);"), `3:19: want ")" here, found "="; a comparison is ==`},
		{cell("float a = 1, b; b = 2, a = 3; return get(0, 0);"), `3:34: want ";" here, found ","; a statement sets or returns one value`},
		{cell("float a = get(0, 0)\n  return a;"), `3:32: want ";" here`},
		{cell("return get(0, 0)**2;"), `3:30: want a value here, found "*"; a power is pow(a, 2) or a * a`},
		{cell("return (x >> 1) * get(0, 0);"), `3:24: want a value here, found ">"; there are no shifts: multiply or divide by 2, 4, 8 ...`},
		{cell("return get(0, 0) ^ 2;"), `3:30: character '^' has no meaning here: there are no operations on bits; x & 1 is x % 2, a power is pow(a, 2), and conditions are joined by && and ||`},
		{cell("float *p; return get(0, 0);"), `3:19: there are no pointers; arrays are read with get, and a variable is declared without *`},
		{cell("return get(0, 0), 1;"), `3:29: want no more than 1 values, one for each output; name more outputs with Fields, or of a stage with CellValue (...)`},
		{cell("return (get(u, 0, 0), get(v, 0, 0));") + "Fields (u, v)", `3:20: values of several outputs are returned without parentheses: return a, b;`},
		{cell("return get(0, 0);") + "#define C 1.0/3", `4:1: of #define only names of numbers are read; write const float C = 1.0 / 3;`},
		{cell("return get(0, 0);") + "#define SQ(a, b) ((a)*(b))", `4:1: of #define only names of numbers are read; write a function, float SQ(float a, float b) { return ...; }`},
		{cell("return get(0, 0);") + "#define AT(i, w) get(i, 0) * w", `4:1: of #define only names of numbers are read; write a function, float AT(int i, float w) { return ...; }`},
		{cell("return fmax(get(0, 0), get(1, 0), get(-1, 0));"), `3:45: fmax takes 2; nest calls, like fmax(a, fmax(b, c))`},
		{cell("return get(u, 0, 0);") + "Fields (u, p)", `3:32: want 2 values, one for each output, found ";" after 1; a function that sets some fields alone names them, like CellValue (u)`},
		{key("ScalarVariables (float k = 1/3.0)"), `1:29: a scalar's default is one number; compute it, or write const float k = ...; if no run changes it`},
		{cell("return get(0, 0);") + "#define N(", `4:1: of #define only names of numbers are read; write a function, float N() { return ...; }`},
		{cell("return get(0, 0);") + "#define FAST", `4:1: of #define only names of numbers are read; remove it`},
		{cell("return get(0, 0);") + "#define real float", `4:1: of #define only names of numbers are read; write float where the file says real`},
		{key("NumDimension 2"), `1:1: unknown key "NumDimension"; write NumDimensions`},
		{key("boundary wrap"), `1:1: unknown key "boundary"; write Boundary`},
		{key("Iterations 9"), `1:1: unknown key "Iterations"; write Steps`},
		{key("Steps 9;"), `1:8: want a key here, found ";": none stands between keys, nor between a key and its value; remove it`},
		{key("Steps: 9"), `1:6: want a whole number here, found ":"; a key's value follows it at once`},
		{key("Fields = (u)"), `1:8: want "(" here, found "="; a key's value follows it at once`},
		{key("! waves"), `1:1: want a key here, found "!": comments begin with #, // or /*`},
		{key("__global__ void k() {}"), `1:1: "__global__" is not in the language; remove it: a stencil says what a cell becomes, and the kernel is written by tune`},
		{key("Boundary periodic"), `1:10: unknown boundary "periodic"; write wrap`},
		{key("Boundary x (Neumann, clamp)"), `1:13: unknown boundary "Neumann"; write clamp where the wall lies between cells, or mirror where it lies on the outermost ones; neither lets anything through`},
		{"NumDimensions 1 StencilSize (1) Boundary (fixed, clamp) CellValue { return get(0); }", `1:42: two rules, and one axis; of its low and its high side they are Boundary x (fixed, clamp)`},
		{key("Boundary left constant 0"), `1:10: unknown boundary "left"; write an axis and the rules of its two sides, like x (constant 0, clamp)`},
		{key("Boundary constant"), `2:1: want the number outside here, like constant 0, found "NumDimensions"`},
		{key("Boundary x wrap y clamp"), `1:17: want a key here, found "y"; each rule has a Boundary of its own, or there is one for each axis in parentheses: Boundary (wrap, clamp)`},
		{key("EdgeValue x left { return 0; }"), `1:13: want "{" here, found "left"; a side of an axis is low or high`},
		{key("EdgeValue left { return 0; }"), `1:11: want the name of a field here, found "left"; a side is low or high of an axis: EdgeValue x low { ... }`},
		{key("EdgeValue 0"), `1:11: want "{" here, found "0"`},
		{key("Fields (float u)"), `1:9: want the name of a field here, found "float"; its type stands behind it: u: float`},
		{key("Fields (half, u)"), `1:9: want the name of a field here, found "half", which is a type; choose another name, like half_`},
		{key("ScalarVariables (float half = 0.5)"), `1:24: "half" is a type; choose another name, like half_`},
		{key("float half(float a) { return a / 2; }"), `1:7: "half" is a type; choose another name, like half_`},
		{key("float mean(float short, float b) { return short + b; }"), `1:18: "short" is a type; choose another name, like short_`},
		{key("const float half = 0.5;"), `1:13: "half" is a type; choose another name, like half_`},
		{key("#define half 0.5"), `1:9: want the name of a new variable here, found "half", which is a type; choose another name, like half_`},
		{cell("float bool = get(0, 0); return bool;"), `3:19: want the name of a new variable here, found "bool", which is a type; choose another name, like bool_`},
		{cell("float a = 1, int8[2]; return get(0, 0);"), `3:26: want the name of a new variable here, found "int8", which is a type; choose another name, like int8_`},
		{cell("unsigned int char = 1; return get(0, 0);"), `3:26: "char" is a type; choose another name, like char_`},
		{key("DataType unsigned float"), `1:10: unknown element type "unsigned float": use int, int64, float, double, unsigned int or one of float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64`},
		{key("ReadOnly (k float)"), `1:13: want ")" here, found "float"; a type stands behind the name and a colon: k: float`},
		{key("ReadOnly (k[9])"), `1:13: want the axis that k lies along here, as in k[x], found "9"; an array that read(k, i) reads has any number of elements`},
		{key("Fields (x)"), `1:9: want the name of a field here, found "x", which is a word of the language; choose another`},
		{key("ScalarVariables (float dt 0.1)"), `1:27: want ")" here, found "0.1"; a value stands behind =, in one number`},
		{key("float f(a) { return a; }"), `1:9: want the type of a parameter here, found "a"`},
		{key("Sources (u) { return value; }"), `1:9: want the name of a list of places here, found "("; like Sources shot (u)`},
		{key("StepScalar sum { return get(0, 0); }"), `1:16: want the name of a step scalar here, like StepScalar sum total { return get(0); }, found "{"`},
		{"NumDimensions 2 StencilSize (1, 1) Fields (u) CellValue a { return get(u, 0, 0); }", `1:57: want "{" here, found "a"; stages are named by Stages (a), in the order they run`},
		{"NumDimensions 2 StencilSize (1, 1) Fields (u) CellValue u { return get(u, 0, 0); }", `1:57: want "{" here, found "u"; the fields that a function sets stand in parentheses: CellValue (u)`},
		{cell("return get(u, 0, 0), 0;") + "Fields (u, v) Reduce sum { return value; }", `4:35: value of which field? write value(u)`},
		{key("ScalarVariables (a, b)"), `1:18: a scalar has a type, like (float a)`},
	} {
		_, err := Parse("s", "s.sl", c.src)
		if err == nil {
			t.Errorf("%s: accepted", c.src)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != "s.sl:"+c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}
