package stencil

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzLex: no file may crash the tokenizer, and its tokens stand where they say.
func FuzzLex(f *testing.F) {
	for _, src := range []string{"", "a.b", "1.5e-3f<=.5", "a+++b", "/* \n */ x // y\n# z", "\x00", "a\u00e9", "<=>=!===&&||&|", "...", "1e+", "\r\n\t ;"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		l := &lexer{file: "fuzz.sl", src: src, line: 1, lines: strings.Split(src, "\n")}
		tokens, err := l.tokens()
		if err != nil {
			return
		}
		for _, k := range tokens {
			if k.line < 1 || k.line > len(l.lines) || k.col < 1 || !strings.HasPrefix(l.lines[k.line-1][k.col-1:], k.text) {
				t.Errorf("token %v is not at %d:%d", k, k.line, k.col)
			}
		}
		if last := tokens[len(tokens)-1]; last.kind != tokEOF {
			t.Errorf("last token is %v", last)
		}
	})
}

// fuzzLimit is what parsing and fusing may take at most: whatever is not linear takes more. TestHardestFilesTakeNoLong asks for less of the hardest
// texts, without the fuzzer's instrumentation, on a machine that does little else.
const fuzzLimit = 500 * time.Millisecond * slower

// busy is the time that a processor gives to a function: a busy machine is no fault of the parser.
func busy(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	begin := used()
	do()
	return used() - begin
}

// FuzzParse: no file may crash the parser, take longer than 100 ms of a processor or give an
// error that cannot be shown; what is accepted must hold together.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		s, err := Lookup(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Text())
	}
	for _, src := range hardest() {
		if len(src) <= maxFileBytes { // longer ones are refused unread, and only slow the fuzzer down
			f.Add(src)
		}
	}
	for _, src := range hardestFunctions() {
		f.Add(src)
	}
	for _, src := range []string{
		"NumDimensions 2 StencilSize (1, 1) Fields (a) ReadOnly (u, dx[x], w[y], table) Boundary wrap CellValue { return get(u, 1, 0) * get(dx, -1) + get(w, 1) * read(table, x) + read(2); } # end",
		minmod + "const float W = 1.0 / 3, A[2] = {1, -W}; const int d[] = {-1, 1};\n#define N 2\nfloat f(float v[2], bool up, int k) { for (int i = 0; i < 2; i++) if (v[i] > W) return get(k * d[i]); return up ? v[0] : minmod(v[1], N); }" +
			line("int i; float v[2] = {get(0)}; for (i = 0; i < 2; i++) v[i] += A[i]; bool b = f(v, x > 1, 2) > 0; return b ? f(A, b, 1) : v[1] / i;"),
		"", "\x00", "\xff\xfe", "\ufeffNumDimensions 1", "/* never closed", "/*/", "//", "#", "NumDimensions 1\r\nStencilSize (1)\r\n",
		plain, strings.ReplaceAll(plain, "\n", "\r"), strings.Repeat("(", 20000), line(strings.Repeat("{", 1000)),
		line("float a = get(-2), b; a = -a / (b - -(3.5e-3f)); return fmin(a, fabs(sqrt(exp(log(b)))));"),
		"const float A = 0.5, w[3] = {1, 2, 3}; float f(int i) { if (i == 0) return A; int k = i + 1; return w[k]; }\n" +
			line("int n = 0; float s = 0; for (int i = 0; i < 2; i++) { if (A > 0 && get(i) > 0) n++; else s += f(i); int k = i; if (k > 0) return s * w[k] + n; } return s;"),
		line("float s = 0; for (int i = -2; i <= 2; i++) if (i != 0) s += i * get(i); else { s -= 1; } return s > 0 && !(s < 1) ? s : -s;"),
		line("int k = x % 3; const int n = 2; return (float)(k / (iteration - 1)) + (int)get(n) + pow(get(0), 2) + min(k, y) + max(1, get(1)) + abs(k);"),
		"NumDimensions 1 StencilSize (1) DataType int8 ScalarVariables (unsigned int a = 3, float b) Boundary wrap CellValue { return get(1) / a + b * (unsigned char)get(0) % 7; }",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, v) ReadOnly (w) Boundary mirror Stages (p, q) CellValue p (v) { return get(u, 1, 0); } CellValue q (u) { return get(v, 0, 1) * get(w, 0, 0); } Reduce max { return fabs(value(u) - get(u, 0, 0)); } Until < 1e-3 every 2",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, v, w) Temporary (v, w) Stages (p, q, r) CellValue p (v) { return get(u, 1, 0); } CellValue q (w) { return get(v, 0, 1); } CellValue r (u) { return get(w, -1, 0) - get(v, 0, 0); }",
		"NumDimensions 1 StencilSize (1) Fields (u, v) CellValue { return get(u, 1), read(iteration * input_size.x + x); } EdgeValue u { return value; } EdgeValue v { return x < 0 ? 1 : read(x); }",
		"NumDimensions 2 StencilSize (1, 1) ScalarVariables (int n = 2) Fields (u, v) ReadOnly (w, p[y]) StepScalar sum s { return x < n ? get(u, 1, 0) * read(w, x) : get(p, 1); } StepScalar q { float m = s / n; if (m > iteration) return m; return input_size.x; } StepScalar min t { return q * get(v, 0, 0); } CellValue { return get(u, 0, 0) + q, t; }",
		"NumDimensions 1 StencilSize (2) DataType int8 StepScalar max sum { return get(2); } StepScalar min { return 1; } StepScalar sum { return sum; } CellValue { return get(0) % sum; }",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, v) Boundary wrap const int N = 4; Stages (p, q) Color p (x + 2 * y - N) % N == 3 Color q x % 2 != 1 && (3 * -y + 1) % 3 == 0 CellValue p (u) { return get(u, 1, 1) * get(v, 0, 1); } CellValue q { return get(v, 1, 0), x; }",
		"NumDimensions 2 StencilSize (1, 1) ScalarVariables (float w) Fields (u, o) ReadOnly (m, p[y]) InputRange s (0, 4) StepScalar sum k { return get(u, 0, 0); } CellValue { return get(u, 1, 0), get(u, 0, 0); } " +
			"Sources s (u) { return get(u, 0, 0) + w * value * get(m, 0, 0) / (k + x); } Receivers r { if (iteration > 3) return get(o, -1, 1) + get(p, 1); return read(m, y); } Sources t (u) { return value; }",
		"NumDimensions 1 StencilSize (1) DataType int8 Receivers s { return 1; } Fields (a) Sources r (a) { return value % get(0); } CellValue { return get(0) % 7; } Reduce max { return value; } Until > 9",
		line("return get(0);") + "Fields (" + strings.Repeat("a", 5000) + ", b)", line("return get(0);") + "Stages (" + strings.Repeat("a", 5000) + ")",
		line("for (int i = 0; i < 1; ) ; return get(0);"), line("for (int i = 1; i > 0; i += 0) ; return get(0);"), line("return get(0) / -0;"), line("return 1e400;"), line("return get(0x1);"), line("return .;"), line("return get(٣);"),
		"NumDimensions 2 StencilSize (2, 2) Fields (a, b) ReadOnly (k, w[x]) Short (b x y, k y, w x) Boundary a fixed Boundary b (constant 1, clamp) CellValue { return get(b, 1, 0) + get(w, 1), get(k, 2, 2) * get(b, 0, -1); } Reduce max { return x == y ? 0 : value(b); }",
		"NumDimensions 1 StencilSize (16) Fields (a, b) Short (b x) EdgeValue { return value * value * value; } Sources s (b) { return get(b, 0) + value; } CellValue { return get(b, 16) * get(b, 15), get(a, 16) + get(b, 3); } StepScalar max m { return get(b, 0) + x; }",
		"NumDimensions 3 StencilSize (16, 16, 16) Fields (a, b) Short (b x y z) CellValue { " + strings.Repeat("if (get(b, 16, 16, 16) > 0) return get(a, 1, 1, 1), get(b, 16, 16, 16);", 100) + " return 1, 2; }",
		"NumDimensions 3 StencilSize (16, 16, 16) DataType double Boundary clamp CellValue { return get(16, -16, 0); }",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var s *Stencil
		var err error
		took := time.Hour
		for range 3 { // collecting garbage is not the parser's work alone
			if took = min(took, busy(func() { s, err = Parse("fuzz", "fuzz.sl", src) })); took < fuzzLimit {
				break
			}
		}
		if took > fuzzLimit {
			t.Errorf("took %v", took)
		}
		if err != nil {
			e := err.Error()
			if !strings.HasPrefix(e, "fuzz.sl:") || len(e) > 2000 || !utf8.ValidString(e) || strings.ContainsAny(e, "\x00\x1b\r") {
				t.Errorf("error %q", e)
			}
			return
		}
		if once, err := Format("fuzz.sl", src); err != nil {
			t.Errorf("formatting: %v", err)
		} else if len(src) > 4096 { // the fuzzer's time is for others
		} else if twice, err := Format("fuzz.sl", once); err != nil || twice != once || mustParse(t, once).Hash != s.Hash {
			t.Errorf("formatted twice (%v):\n%s\nis not\n%s", err, twice, once)
		}
		cell := CellSource(s)
		if !strings.Contains(cell, "return") || strings.ContainsAny(cell, "\"#\\") || !isASCII(cell) {
			t.Errorf("cell function %q", cell)
		}
		if !s.readsAny() || s.Dims < 1 || s.Dims > 3 || len(s.Hash) != 64 {
			t.Errorf("%d points, %d dimensions, hash %q", len(s.Points), s.Dims, s.Hash)
		}
		for a, r := range s.Radius() {
			if r < 0 || r > maxRadius || a >= s.Dims && r != 0 {
				t.Errorf("radius %v in %d dimensions", s.Radius(), s.Dims)
			}
		}
		for _, pass := range s.StepPasses() {
			for _, i := range slices.Concat(pass.Folded, pass.Computed) {
				if code := StepCode(s, i); !strings.Contains(code, "return") || !isASCII(code) {
					t.Errorf("step scalar %q", code)
				}
			}
		}
		for i := range s.Sparse {
			if code := SparseCode(s, i); !strings.Contains(code, "return") || !isASCII(code) {
				t.Errorf("list %q", code)
			}
		}
		var f *Stencil
		took = busy(func() { f = s.Fused() })
		if f != nil && (len(f.Stages) != 1 || len(f.Stages[0].Outputs) == 0 || len(f.Evaluations) != len(s.Stages)) {
			t.Errorf("fused: %d stages, %d outputs", len(f.Stages), len(f.Stages[0].Outputs))
		}
		if took > fuzzLimit {
			t.Errorf("fusing took %v", took)
		}
		for _, kind := range []Hidden{Shared, Pointwise} {
			if h := s.hoist(kind, 1, 1); h != nil {
				n := Size{3, 1, 1}
				for a := range s.Dims {
					n[a] = 3
				}
				Reference(Problem{Stencil: h, DType: s.DType, Size: n}, Fill(1, n.Cells()), 2)
			}
		}
		if utf8.ValidString(src) { // JSON replaces what is not
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var back Stencil
			if err := json.Unmarshal(b, &back); err != nil || back.Hash != s.Hash {
				t.Errorf("came back from JSON with another meaning: %v", err)
			}
		}
		n := Size{3, 1, 1}
		for a := range s.Dims {
			n[a] = 3
		}
		if p := (Problem{Stencil: s, DType: s.DType, Size: n}); len(s.Sparse) > 0 {
			if got := Expected(p, 1, 2); int64(len(got)) != n.Cells()*int64(len(s.Fields))+p.Recorded() {
				t.Errorf("%d cells and recorded numbers", len(got))
			}
		}
		if got := Reference(Problem{Stencil: s, DType: Float64, Size: n}, Fill(1, n.Cells()), 2); int64(len(got)) != n.Cells()*int64(len(s.Fields)) {
			t.Errorf("%d cells", len(got))
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' })
}
