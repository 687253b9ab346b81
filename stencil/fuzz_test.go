package stencil

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzParse: no file may crash the parser, take longer than 100 ms or give an
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
	for _, src := range []string{
		"", "\x00", "\xff\xfe", "\ufeffNumDimensions 1", "/* never closed", "/*/", "//", "#", "NumDimensions 1\r\nStencilSize (1)\r\n",
		plain, strings.ReplaceAll(plain, "\n", "\r"), strings.Repeat("(", 20000), line(strings.Repeat("{", 1000)),
		line("float a = get(-2), b; a = -a / (b - -(3.5e-3f)); return fmin(a, fabs(sqrt(exp(log(b)))));"),
		line("return get(0) / -0;"), line("return 1e400;"), line("return get(0x1);"), line("return .;"), line("return get(٣);"),
		"NumDimensions 3 StencilSize (16, 16, 16) DataType double Boundary clamp CellValue { return get(16, -16, 0); }",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		var s *Stencil
		var err error
		best := time.Hour
		for range 3 { // a busy machine is no fault of the parser
			begin := time.Now()
			s, err = Parse("fuzz", "fuzz.sl", src)
			if best = min(best, time.Since(begin)); best < 100*time.Millisecond {
				break
			}
		}
		if best > 100*time.Millisecond*slower {
			t.Errorf("took %v", best)
		}
		if err != nil {
			e := err.Error()
			if !strings.HasPrefix(e, "fuzz.sl:") || len(e) > 2000 || !utf8.ValidString(e) || strings.ContainsAny(e, "\x00\x1b\r") {
				t.Errorf("error %q", e)
			}
			return
		}
		cell := CellSource(s)
		if !strings.Contains(cell, "return ") || strings.ContainsAny(cell, "\"#{}\\") || !isASCII(cell) {
			t.Errorf("cell function %q", cell)
		}
		if len(s.Points) == 0 || s.Dims < 1 || s.Dims > 3 || len(s.Hash) != 64 {
			t.Errorf("%d points, %d dimensions, hash %q", len(s.Points), s.Dims, s.Hash)
		}
		for a, r := range s.Radius() {
			if r < 0 || r > maxRadius || a >= s.Dims && r != 0 {
				t.Errorf("radius %v in %d dimensions", s.Radius(), s.Dims)
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
		if got := Reference(Problem{Stencil: s, DType: Float64, Size: n}, Fill(1, n.Cells()), 2); int64(len(got)) != n.Cells() {
			t.Errorf("%d cells", len(got))
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e || r < ' ' && r != '\n' })
}
