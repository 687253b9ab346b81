package stencil

import (
	"strings"
	"testing"
)

func TestSizesParse(t *testing.T) {
	for _, c := range []struct {
		text string
		dims int
		want Size
		fail string // part of the message
	}{
		{"1", 1, Size{1, 1, 1}, ""},
		{"512", 1, Size{512, 1, 1}, ""},
		{"512x256", 2, Size{512, 256, 1}, ""},
		{"67x45x29", 3, Size{67, 45, 29}, ""},
		{"007x1", 2, Size{7, 1, 1}, ""},
		{"1073741823", 1, Size{1<<30 - 1, 1, 1}, ""},
		{"1073741824", 1, Size{}, "1..1073741823"},
		{"1073741823x1073741823", 2, Size{}, "too many cells"},
		{"1073741823x1073741823x1073741823", 3, Size{}, "too many cells"},
		{"1048576x1048576x65536", 3, Size{1 << 20, 1 << 20, 1 << 16}, ""},
		{"1048576x1048576x262144", 3, Size{}, "too many cells"},

		{"0", 1, Size{}, "must lie in 1.."},
		{"-1", 1, Size{}, "must lie in 1.."},
		{"-0", 1, Size{}, "must lie in 1.."},
		{"2147483648", 1, Size{}, "must lie in 1.."},
		{"9223372036854775808", 1, Size{}, "must lie in 1.."},
		{"-9223372036854775809", 1, Size{}, "must lie in 1.."},
		{strings.Repeat("9", 400), 1, Size{}, "must lie in 1.."},
		{"1e400", 1, Size{}, "not a whole number"},
		{"1e3", 1, Size{}, "not a whole number"},
		{"12abc", 1, Size{}, "not a whole number"},
		{"12.5", 1, Size{}, "not a whole number"},
		{"+12", 1, Size{}, "not a whole number"},
		{"1_000", 1, Size{}, "not a whole number"},
		{"０１", 1, Size{}, "not a whole number"},
		{"٣", 1, Size{}, "not a whole number"},
		{"²", 1, Size{}, "not a whole number"},
		{" 512", 1, Size{}, "not a whole number"},
		{"512 ", 1, Size{}, "not a whole number"},
		{"512\n", 1, Size{}, "not a whole number"},
		{"NaN", 1, Size{}, "not a whole number"},
		{"512x 512", 2, Size{}, "on y is not a whole number"},
		{"512x", 2, Size{}, `extent "" on y`},
		{"x512", 2, Size{}, `extent "" on x`},
		{"0x10x1", 3, Size{}, "extent 0 on x"},
		{"512X512", 2, Size{}, "want 2 extents joined by x, like 512x512"},
		{"512×512", 2, Size{}, "want 2 extents"},
		{"512", 3, Size{}, "want 3 extents joined by x, like 512x512x512"},
		{"512x", 1, Size{}, "want 1 extents joined by x, like 512"},
		{"1x2x3x4", 3, Size{}, "want 3 extents"},
		{"", 1, Size{}, "not a whole number"},
		{"", 2, Size{}, "want 2 extents"},
	} {
		got, err := ParseSize(c.text, c.dims)
		switch {
		case c.fail == "" && (err != nil || got != c.want):
			t.Errorf("%.40q in %d dimensions: %v, %v, want %v", c.text, c.dims, got, err, c.want)
		case c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
			t.Errorf("%.40q in %d dimensions: %v, %v, want an error with %q", c.text, c.dims, got, err, c.fail)
		}
	}
}

func TestSizeTextReadsBack(t *testing.T) {
	for dims, want := range map[int]string{1: "67", 2: "67x45", 3: "67x45x29"} {
		s := Size{67, 45, 29}
		for a := dims; a < 3; a++ {
			s[a] = 1
		}
		if s.Text(dims) != want {
			t.Errorf("%v in %d dimensions is %q", s, dims, s.Text(dims))
		}
		if back, err := ParseSize(want, dims); err != nil || back != s {
			t.Errorf("%q reads back as %v, %v", want, back, err)
		}
	}
}

func TestElementTypesParse(t *testing.T) {
	for text, want := range map[string]DType{"float32": Float32, "f32": Float32, "float": Float32, "float64": Float64, "f64": Float64, "double": Float64} {
		if d, err := ParseDType(text); err != nil || d != want {
			t.Errorf("%s: %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "FLOAT", "quad", "float 32", "unsigned float", "|", "int|signed"} {
		if _, err := ParseDType(text); err == nil || !strings.Contains(err.Error(), "use one of float32, float64") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, d := range ElementTypes() {
		for _, name := range append([]string{string(d), d.Short()}, strings.FieldsFunc(d.fact().words, func(r rune) bool { return r == '|' })...) {
			if back, err := ParseDType(name); err != nil || back != d {
				t.Errorf("%s reads back as %s, %v", name, back, err)
			}
		}
		if e := d.Epsilon(); d.Floating() && (d.Round(1+e) == 1 || d.Round(1+e/2) != 1) {
			t.Errorf("%s: epsilon %g is not the gap above 1", d, e)
		}
	}
	if Float32.Size() != 4 || Float64.Size() != 8 {
		t.Error("element sizes")
	}
}

func TestWideGridsNeed64BitIndices(t *testing.T) {
	for size, want := range map[Size]bool{
		{512, 512, 512}:       false,
		{1 << 10, 1 << 20, 1}: false,
		{1 << 30, 2, 1}:       true,
		{1290, 1290, 1290}:    true, // 2^31 - 1 holds them, one block beyond does not
		{1280, 1280, 1280}:    false,
		{2048, 2048, 2048}:    true,
	} {
		if got := (Problem{Size: size}).Wide(); got != want {
			t.Errorf("%v (%d cells): %v", size, size.Cells(), got)
		}
	}
}
