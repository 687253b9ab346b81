package stencil

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is a one-dimensional stencil file with the given cell function on line 3.
func line(cell string) string {
	return "NumDimensions 1\nStencilSize (2)\nCellValue { " + cell + " }\n"
}

func mustParse(t testing.TB, src string) *Stencil {
	t.Helper()
	s, err := Parse("s", "s.sl", src)
	if err != nil {
		t.Fatalf("%s\n%v", src, err)
	}
	return s
}

func TestGoodFilesParse(t *testing.T) {
	for _, c := range []struct{ name, src, cell string }{
		{"shortest", line("return get(0);"), "return get(0, 0, 0);\n"},
		{"no space but one", "NumDimensions 1 StencilSize(0)CellValue{return get(0);}", "return get(0, 0, 0);\n"},
		{"keys in another order", "StencilSize (1, 1)\nBoundary clamp\nDataType double\nNumDimensions 2\nCellValue { return get(1, -1); }",
			"return get(1, -1, 0);\n"},
		{"CellValue before StencilSize", "NumDimensions 1 CellValue { return get(1); } StencilSize (1)", "return get(1, 0, 0);\n"},
		{"CRLF", "NumDimensions 1\r\nStencilSize (2)\r\nCellValue {\r\n  return get(2);\r\n}\r\n", "return get(2, 0, 0);\n"},
		{"all three comments", "/* a\n * b */ NumDimensions 1 // one ; {\n# two } \"\nStencilSize (/**/1) CellValue { return get(0); } // end", "return get(0, 0, 0);\n"},
		{"a comment like a condition", "# if it is 0\n#note #if\n// #if\n" + line("return get(0);"), "return get(0, 0, 0);\n"},
		{"comment with a foreign script", line("return get(0); /* Größe 大きさ */"), "return get(0, 0, 0);\n"},
		{"locals", line("float a = get(1), b; double c = a * 2; b = c; return b;"),
			"T v0 = get(1, 0, 0);\nT v1 = T(0.0);\nT v2 = v0 * T(2.0);\nv1 = v2;\nreturn v1;\n"},
		{"local named like a key", line("float NumDimensions = get(0); return NumDimensions;"), "T v0 = get(0, 0, 0);\nreturn v0;\n"},
		{"numbers", line("return .5 * get(0) + 1. + 2e3 + 1.5e-3f + 4F;"),
			"return T(0.5) * get(0, 0, 0) + T(1.0) + T(2000.0) + T(0.0015) + T(4.0);\n"},
		{"tiny and huge numbers", line("return get(0) + 1e-320 + 1e30;"), "return get(0, 0, 0) + T(1e-320) + T(1e+30);\n"},
		{"a literal's sign is part of it", line("return -5 * get(0) - -2;"), "return T(-5.0) * get(0, 0, 0) - T(-2.0);\n"},
		{"unary plus is nothing", line("return +get(0) - +(+get(1));"), "return get(0, 0, 0) - get(1, 0, 0);\n"},
		{"needless parentheses go", line("return ((get(0)) * (get(1))) + (get(2));"), "return get(0, 0, 0) * get(1, 0, 0) + get(2, 0, 0);\n"},
		{"needed parentheses stay", line("return get(0) - (get(1) - get(2));"), "return get(0, 0, 0) - (get(1, 0, 0) - get(2, 0, 0));\n"},
		{"functions", line("return fmax(sqrt(fabs(get(0))), fmin(exp(get(1)), log(get(2))));"),
			"return fmax(sqrt(fabs(get(0, 0, 0))), fmin(exp(get(1, 0, 0)), log(get(2, 0, 0))));\n"},
		{"division by what is not a literal zero", line("return get(0) / (1.0 - 1.0);"), "return get(0, 0, 0) / (T(1.0) - T(1.0));\n"},
		{"deepest nesting", line("return " + strings.Repeat("(", maxDepth-2) + "get(0)" + strings.Repeat(")", maxDepth-2) + ";"), "return get(0, 0, 0);\n"},
	} {
		s, err := Parse("s", "s.sl", c.src)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := CellSource(s); got != c.cell {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.cell)
		}
		if s.Text() != c.src {
			t.Errorf("%s: Text is not the file", c.name)
		}
	}
}

func TestParsedFactsAreThoseOfTheFile(t *testing.T) {
	s := mustParse(t, `NumDimensions 3 StencilSize (2, 1, 3) DataType double CellValue {
		float a = get(1, 0, 0) + get(-2, 0, 0) * get(1, 0, 0);
		return sqrt(a) / fmax(get(0, 0, 3), -get(0, 1, 0)) - 3; }`)
	if s.Dims != 3 || s.DType != Float64 || s.Boundary != Clamp {
		t.Errorf("dims %d, %s, %s", s.Dims, s.DType, s.Boundary)
	}
	if want := []Offset{{-2, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 3}}; !slices.Equal(s.Points, want) {
		t.Errorf("points %v, want %v: distinct, in order z, y, x", s.Points, want)
	}
	if s.Low != [3]int{2, 0, 0} || s.High != [3]int{1, 1, 3} || s.Radius() != [3]int{2, 1, 3} {
		t.Errorf("low %v, high %v, radius %v", s.Low, s.High, s.Radius())
	}
	want := Ops{Add: 3, Mul: 1, Div: 1, Special: 1}
	want.Calls[special("sqrt")]++
	if s.Ops != want || s.Ops.Total() != 6 {
		t.Errorf("operations %+v, want %+v", s.Ops, want)
	}
}

func TestFaultsAreShownWhereTheyStand(t *testing.T) {
	head := "NumDimensions 1\nStencilSize (2)\n"
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", `s.sl:1:1: NumDimensions is missing; add it, like NumDimensions 2
	
	^`},
		{"no cell function", head, `s.sl:3:1: CellValue is missing; add it, like CellValue { return get(0, 0); }
	
	^`},
		{"no extent", "NumDimensions 1 CellValue { return get(0); }", `s.sl:1:45: StencilSize is missing; add it, like StencilSize (1, 1)
	NumDimensions 1 CellValue { return get(0); }
	                                            ^`},
		{"unknown key", head + "  Speed 9\n", `s.sl:3:3: unknown key "Speed"; the keys are NumDimensions, StencilSize, Points, DataType, FunctionName, ScalarVariables, Fields, Temporary, ReadOnly, Short, Boundary, StepScalar, Stages, Color, CellValue, EdgeValue, Sources, Receivers, Reduce, Until, DefaultSize, Steps, InputRange
	  Speed 9
	  ^`},
		{"key twice", head + "NumDimensions 1", `s.sl:3:1: NumDimensions is given twice; remove one
	NumDimensions 1
	^`},
		{"four dimensions", "NumDimensions 4", `s.sl:1:1: NumDimensions must be 1, 2 or 3
	NumDimensions 4
	^`},
		{"dimensions beyond any integer", "NumDimensions 99999999999999999999", `s.sl:1:15: want a whole number here, found "99999999999999999999"
	NumDimensions 99999999999999999999
	              ^`},
		{"negative dimensions", "NumDimensions -1", `s.sl:1:15: want a whole number here, found "-"
	NumDimensions -1
	              ^`},
		{"file ends early", "NumDimensions", `s.sl:1:14: want a whole number here, found end of file
	NumDimensions
	             ^`},
		{"radius too large", "NumDimensions 1 StencilSize (17)", `s.sl:1:30: a stencil may reach 16 cells at most
	NumDimensions 1 StencilSize (17)
	                             ^`},
		{"four extents", "NumDimensions 1 StencilSize (1, 1, 1, 1)", `s.sl:1:39: a stencil has at most three axes
	NumDimensions 1 StencilSize (1, 1, 1, 1)
	                                      ^`},
		{"extents are not the dimensions", "NumDimensions 2\nStencilSize (1)\nCellValue { return get(0, 0); }", `s.sl:2:1: StencilSize has 1 extents, NumDimensions says 2
	StencilSize (1)
	^`},
		{"unknown type", head + "DataType bool", `s.sl:3:10: unknown element type "bool": use int, int64, float, double, unsigned int or one of float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64
	DataType bool
	         ^`},
		{"unknown boundary", head + "Boundary zero", `s.sl:3:10: unknown boundary "zero"; write constant 0
	Boundary zero
	         ^`},
		{"never closed block", head + "CellValue {\n return get(0);\n", `s.sl:3:11: this { is never closed; end the block with }
	CellValue {
	          ^`},
		{"empty block", line(""), `s.sl:3:14: CellValue returns nothing; end it with return
	CellValue {  }
	             ^`},
		{"no return", line("float a = get(0);"), `s.sl:3:31: CellValue must end with return
	CellValue { float a = get(0); }
	                              ^`},
		{"statement after return", line("return get(0); return get(1);"), `s.sl:3:28: statement after return is never reached; remove it
	CellValue { return get(0); return get(1); }
	                           ^`},
		{"reads nothing", line("return 1;"), `s.sl:3:1: CellValue never calls get(), so there is nothing to tune
	CellValue { return 1; }
	^`},
		{"reaches beyond", line("return get(-3);"), `s.sl:3:20: get(-3) reaches beyond StencilSize; raise StencilSize or shorten the offset
	CellValue { return get(-3); }
	                   ^`},
		{"offset beyond every limit", line("return get(-99);"), `s.sl:3:24: a stencil may reach 16 cells at most
	CellValue { return get(-99); }
	                       ^`},
		{"offset is an expression", line("float i = 1; return get(i);"), `s.sl:3:37: the offsets of get must be whole numbers known here, found "i"; use const int, or choose between several get() with ?:
	CellValue { float i = 1; return get(i); }
	                                    ^`},
		{"offset is a fraction", line("return get(0.5);"), `s.sl:3:24: the offsets of get must be whole numbers known here, found "0.5"; use const int, or choose between several get() with ?:
	CellValue { return get(0.5); }
	                       ^`},
		{"too many offsets", line("return get(0, 1);"), `s.sl:3:25: get takes 1 offset in 1 dimension and then ")", found ","
	CellValue { return get(0, 1); }
	                        ^`},
		{"too few offsets", "NumDimensions 2 StencilSize (1, 1)\nCellValue { return get(0); }", `s.sl:2:25: get takes 2 offsets in 2 dimensions
	CellValue { return get(0); }
	                        ^`},
		{"a line of the preprocessor", "#if 0\nDataType double\n#endif\n" + line("return get(0);"), "s.sl:1:1: no preprocessor reads #if; remove it, and the lines that it leaves out\n\t#if 0\n\t^"},
		{"an array that nothing declares", line("return get(w, 0);"), `s.sl:3:24: unknown name "w"; if it is an array, declare it with Fields (...) or ReadOnly (w)
	CellValue { return get(w, 0); }
	                       ^`},
		{"a scalar without a type", line("return get(0);") + "\nScalarVariables (a)", "s.sl:5:18: a scalar has a type, like (float a)\n\tScalarVariables (a)\n\t                 ^"},
		{"a list of scalars that ends", line("return get(0);") + "\nScalarVariables (float a,", "s.sl:5:26: want the name of a scalar here, found end of file\n\tScalarVariables (float a,\n\t                         ^"},
		{"unknown name", line("return get(0) * w;"), `s.sl:3:29: unknown name "w"; declare it first, like float w = ...
	CellValue { return get(0) * w; }
	                            ^`},
		{"assignment to an unknown name", line("w = 1; return get(0);"), `s.sl:3:13: unknown name "w"; declare it first, like float w = ...
	CellValue { w = 1; return get(0); }
	            ^`},
		{"name in its own declaration", line("float a = a; return get(0);"), `s.sl:3:23: unknown name "a"; declare it first, like float a = ...
	CellValue { float a = a; return get(0); }
	                      ^`},
		{"name twice", line("float a, a; return get(0);"), `s.sl:3:22: a is declared twice
	CellValue { float a, a; return get(0); }
	                     ^`},
		{"reserved name", line("float sqrt = 1; return get(0);"), `s.sl:3:19: want the name of a new variable here, found "sqrt", which is a word of the language; choose another
	CellValue { float sqrt = 1; return get(0); }
	                  ^`},
		{"missing semicolon", line("return get(0)"), `s.sl:3:27: want ";" here, found "}"
	CellValue { return get(0) }
	                          ^`},
		{"missing operand", line("return get(0) + ;"), `s.sl:3:29: want a value here, found ";"
	CellValue { return get(0) + ; }
	                            ^`},
		{"missing parenthesis", line("return (get(0);"), `s.sl:3:27: want ")" here, found ";"
	CellValue { return (get(0); }
	                          ^`},
		{"division by zero", line("return get(0) / -0.0;"), `s.sl:3:27: division by zero
	CellValue { return get(0) / -0.0; }
	                          ^`},
		{"function with one argument too few", line("return fmin(get(0));"), `s.sl:3:31: want "," here, found ")"
	CellValue { return fmin(get(0)); }
	                              ^`},
		{"function with one argument too many", line("return sqrt(get(0), 1);"), `s.sl:3:31: sqrt takes 1; remove what follows
	CellValue { return sqrt(get(0), 1); }
	                              ^`},
		{"number beyond double", line("return 1e400 * get(0);"), `s.sl:3:20: "1e400" is not a decimal number in range
	CellValue { return 1e400 * get(0); }
	                   ^`},
		{"hexadecimal number", line("return 0x10 * get(0);"), `s.sl:3:20: "0x10" is not a decimal number in range; numbers are decimal, like 1.5e-3, and have no suffix but f
	CellValue { return 0x10 * get(0); }
	                   ^`},
		{"number with two suffixes", line("return 1ff * get(0);"), `s.sl:3:20: "1ff" is not a decimal number in range; numbers are decimal, like 1.5e-3, and have no suffix but f
	CellValue { return 1ff * get(0); }
	                   ^`},
		{"number with an underscore", line("return 1_0 * get(0);"), `s.sl:3:20: "1_0" is not a decimal number in range; numbers are decimal, like 1.5e-3, and have no suffix but f
	CellValue { return 1_0 * get(0); }
	                   ^`},
		{"lone point", line("return . * get(0);"), `s.sl:3:20: "." is not a decimal number in range
	CellValue { return . * get(0); }
	                   ^`},
		{"preprocessor, string, injection", line("return get(0); \"), system(\"x\""), `s.sl:3:28: character '"' has no meaning here; there is no text in the language
	CellValue { return get(0); "), system("x" }
	                           ^`},
		{"NUL", "NumDimensions\x001", `s.sl:1:14: character '\x00' has no meaning here; remove it
	NumDimensions?1
	             ^`},
		{"terminal escape", "NumDimensions 1 \x1b[2J", `s.sl:1:17: character '\x1b' has no meaning here; remove it
	NumDimensions 1 ?[2J
	                ^`},
		{"invalid UTF-8", "NumDimensions \xff", `s.sl:1:15: character '�' has no meaning here; remove it
	NumDimensions ?
	              ^`},
		{"byte order mark", "\ufeffNumDimensions 1", `s.sl:1:1: character '\ufeff' has no meaning here; remove it
	?NumDimensions 1
	^`},
		{"fault after wide characters", "/* Größe */ @", `s.sl:1:15: character '@' has no meaning here; remove it
	/* Größe */ @
	            ^`},
		{"fault after tabs", "\t\tSpeed", "s.sl:1:3: unknown key \"Speed\"; the keys are NumDimensions, StencilSize, Points, DataType, FunctionName, ScalarVariables, Fields, Temporary, ReadOnly, Short, Boundary, StepScalar, Stages, Color, CellValue, EdgeValue, Sources, Receivers, Reduce, Until, DefaultSize, Steps, InputRange\n\t\t\tSpeed\n\t\t\t^"},
		{"fault in a file with CRLF", "NumDimensions 1\r\nSpeed\r\n", "s.sl:2:1: unknown key \"Speed\"; the keys are NumDimensions, StencilSize, Points, DataType, FunctionName, ScalarVariables, Fields, Temporary, ReadOnly, Short, Boundary, StepScalar, Stages, Color, CellValue, EdgeValue, Sources, Receivers, Reduce, Until, DefaultSize, Steps, InputRange\n\tSpeed\n\t^"},
		{"unterminated comment", "\n  /* NumDimensions 1", `s.sl:2:3: comment is never closed; end it with */
	  /* NumDimensions 1
	  ^`},
		{"one too deep", line("return " + strings.Repeat("(", 200) + "get(0)" + strings.Repeat(")", 200) + ";"),
			"s.sl:3:220: nested more than 200 deep; use a local variable\n\tCellValue { return " + strings.Repeat("(", 141) + "\n\t" + strings.Repeat(" ", 160) + "^"},
		{"name of 60000 letters", strings.Repeat("a", 60000),
			"s.sl:1:1: unknown key \"" + strings.Repeat("a", 40) + "\"; the keys are NumDimensions, StencilSize, Points, DataType, FunctionName, ScalarVariables, Fields, Temporary, ReadOnly, Short, Boundary, StepScalar, Stages, Color, CellValue, EdgeValue, Sources, Receivers, Reduce, Until, DefaultSize, Steps, InputRange\n\t" + strings.Repeat("a", 160) + "\n\t^"},
		{"one byte too many", strings.Repeat(" ", 64<<10+1), "s.sl: file has 65537 bytes, more than the 65536 a stencil may have"},
		{"1 MiB", strings.Repeat("/", 1<<20), "s.sl: file has 1048576 bytes, more than the 65536 a stencil may have"},
	} {
		_, err := Parse("s", "s.sl", c.src)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if _, ok := errors.AsType[*SyntaxError](err); !ok {
			t.Errorf("%s: %T is no *SyntaxError", c.name, err)
		}
		if err.Error() != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, err, c.want)
		}
	}
}

// hardest are the longest inputs within the limits, one for each thing that a
// careless parser or printer does in quadratic time or with unbounded depth.
func hardest() map[string]string {
	var gets strings.Builder
	gets.WriteString("NumDimensions 3 StencilSize (16, 16, 16) CellValue { return get(0, 0, 0)")
	for i := range 2100 {
		fmt.Fprintf(&gets, "+get(%d,%d,%d)", i%17, i/17%17, i/289)
	}
	gets.WriteString("; }")
	var locals strings.Builder
	for i := range 4900 {
		fmt.Fprintf(&locals, "float b%d;", i)
	}
	return map[string]string{
		"long sum":             line("float a = get(0); return a" + strings.Repeat("+a", 9900) + ";"),
		"sum of long literals": line("return get(0)" + strings.Repeat("+1e300", 8000) + ";"),
		"many points":          gets.String(),
		"many locals":          line(locals.String() + "return get(0);"),
		"many assignments":     line("float a = get(0);" + strings.Repeat("a=a+a;", 3000) + "return a;"),
		"many nested groups":   line("return get(0)" + strings.Repeat("+"+strings.Repeat("(", 190)+"get(0)"+strings.Repeat(")", 190), 50) + ";"),
		"longest loop":         line("float a = 0; for (int i = 0; i < 15000; i++) a += get(i % 3) * i; return a;"),
		"endless loops":        line("for (int i = 0; i < 9; i += 0) for (int j = 0; j < 9; j -= 1) ; return get(0);"),
		"loop of dead code":    line("for (int i = 0; i < 9000; i++) if (i < 0) { float b = get(i); b *= b; } return get(0);"),
		"all of a large box":   "NumDimensions 3 StencilSize (7, 7, 7) CellValue { float a = 0; for (int i = -7; i <= 7; i++) for (int j = -7; j <= 7; j++) for (int k = -7; k <= 7; k++) a += get(i, j, k); return a; }",
		"nested conditions":    line("return get(0)" + strings.Repeat(" > 0 ? get(1)", 190) + strings.Repeat(" : 0", 190) + ";"),
		"nested branches":      line(strings.Repeat("if (get(0) > 0) ", 190) + "return 1; return get(1);"),
		"long index":           line("return get(0) + read(" + strings.Repeat("(x + y) * (z + input_size.x + 1) - ", 900) + "x);"),
		"60000 digits":         line("return get(0)+0." + strings.Repeat("1", 60000) + ";"),
		"20000 open groups":    line("return " + strings.Repeat("(", 20000) + ";"),
		"60000 minus signs":    line("return " + strings.Repeat("-", 60000) + "get(0);"),
		"64 KiB of open marks": strings.Repeat("/*", 32<<10),
		"64 KiB of new lines":  strings.Repeat("\n", 64<<10),
		"1 MiB":                strings.Repeat("x", 1<<20),
		"4 MB of open groups":  line("return " + strings.Repeat("(", 4_000_000)),
	}
}

func TestHardestFilesTakeNoLong(t *testing.T) {
	all := hardest()
	maps.Copy(all, hardestFunctions())
	for name, src := range all {
		best := time.Hour
		for range 5 { // collecting garbage is not the parser's work alone
			var err error
			best = min(best, busy(func() { _, err = Parse("s", "s.sl", src) }))
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
			}
			if best < 50*time.Millisecond {
				break
			}
		}
		if best > 250*time.Millisecond*slower { // the other thread of a core may take half of it
			t.Errorf("%s took %v", name, best)
		}
	}
}
