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

func TestComputingInTheBitsThatAreStored(t *testing.T) {
	for _, c := range []struct {
		stored, in, want DType
		fails            bool
	}{
		{Float16, Float16, Float16x2, false}, {Float16, Float32, Float16, false}, {Float16x2, Float16, Float16x2, false}, {Float16x2, Float32, Float16, false},
		{BFloat16, Float32, BFloat16, false}, {Float32, Float32, Float32, false}, {Float64, Float64, Float64, false},
		{BFloat16, BFloat16, "", true}, {Float32, Float16, "", true}, {Float16, Float64, "", true}, {Int16, Float16, "", true}, {Int32, Int32, "", true},
	} {
		if got, err := c.stored.Computing(c.in); (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("%s in %s: %s, %v", c.stored, c.in, got, err)
		}
	}
	for bits := range 1 << 16 {
		if v := half(uint16(bits)); v == v && Float16Bits(v) != uint16(bits) {
			t.Fatalf("%g has the bits %#x, want %#x", v, Float16Bits(v), bits)
		}
	}
	const head = "NumDimensions 1 StencilSize (1) DataType "
	const sum = " CellValue { return 0.3 * get(0) + 0.3 * get(-1) + 0.3 * get(1); }"
	packed, err := Parse("s", "s.sl", head+"float16 compute float16"+sum)
	if err != nil || packed.DType != Float16x2 {
		t.Fatalf("%v", err)
	}
	p := Problem{Stencil: packed, Size: Size{2000, 1, 1}}
	bound := map[DType]float64{}
	for _, d := range []DType{Float16, Float16x2} {
		p.DType = d
		bound[d] = Tolerance(p, 6)
	}
	// A step rounds four or five times as often; a value is 1 at most, of which half a unit in the last place is 2^-12.
	if bound[Float16x2] < 1.2*bound[Float16] || bound[Float16x2] > 0.05 {
		t.Errorf("rounding explains %v", bound)
	}
	for text, want := range map[string]string{
		head + "float16 compute float16 CellValue { return get(0) * get(1); }": "only a step that is one weighted sum of one field is computed in float16",
		head + "float compute float16" + sum:                                   "float32 is not computed in float16",
		head + "bfloat16 compute bfloat16" + sum:                               "bfloat16 is not computed in bfloat16",
		head + "float16x2" + sum:                                               "unknown element type",
	} {
		if _, err := Parse("s", "s.sl", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
