package stencil

import (
	"strings"
	"testing"
)

// stored reads a float16 array and two of integers; the first of these has a range of its own.
const stored = "NumDimensions 1 StencilSize (1) Fields (u) ReadOnly (k: float16, mask: uint8, steps[x]: int16) InputRange (0.25, 0.75) InputRange mask {0, 3, 6} " +
	"CellValue { return get(u, 1) * get(k, 0) + get(mask, -1) - get(steps, 0); }"

func TestArraysAreStoredInTypesOfTheirOwn(t *testing.T) {
	p := Problem{Stencil: mustParse(t, stored), DType: Float32, Size: Size{1000, 1, 1}}
	for a, want := range []DType{Float32, Float16, Uint8, Int16} {
		if got := p.Stored(a); got != want {
			t.Errorf("array %d is stored in %s, want %s", a, got, want)
		}
	}
	// The profile is no traffic of cells: 4 + 2 + 1 are read and 4 written.
	if p.Traffic() != 11 || p.Compulsory() != 11 || p.ReadShare() != 7.0/12 {
		t.Errorf("traffic %d and %d bytes, a share of %v", p.Traffic(), p.Compulsory(), p.ReadShare())
	}
	start := Start(p, 1)
	count := map[float64]int{}
	for _, v := range start.ReadOnly[1].Float {
		count[v]++
	}
	if len(count) != 3 || count[0] < 200 || count[3] < 200 || count[6] < 200 {
		t.Errorf("a mask of %v", count)
	}
	for i, v := range start.ReadOnly[0].Float {
		if v < 0.25 || v > 0.75 || v != Float16.Round(v) {
			t.Fatalf("k[%d] is %v", i, v)
		}
	}
	for i, v := range start.ReadOnly[2].Float { // integers take no range of all
		if v != 0 && v != 1 {
			t.Fatalf("steps[%d] is %v", i, v)
		}
	}
	whole := mustParse(t, strings.NewReplacer(": float16", "", ": uint8", "", ": int16", "").Replace(stored))
	if whole.Hash == p.Stencil.Hash {
		t.Error("types of arrays make no difference to the hash")
	}
	if r := mustParse(t, stored+" Reduce sum { return get(mask, 0); }").Reduction(); r.ReadOnly[1].Type != Uint8 {
		t.Errorf("Reduce reads a mask of %q", r.ReadOnly[1].Type)
	}
}

func TestArraysThatCannotBeStoredSo(t *testing.T) {
	head := "NumDimensions 1 StencilSize (1) "
	for _, c := range []struct{ src, want string }{
		{head + "Fields (u: float, m: uint8) CellValue { return get(u, 1); }", "a field has the type of DataType; one of its own is for arrays that never change: ReadOnly (u: uint8)"},
		{head + "Fields (u) ReadOnly (m: byte) CellValue { return get(u, 1); }", `unknown element type "byte": use int`},
		{head + "DataType int8 Fields (u) ReadOnly (m: uint8) CellValue { return get(u, 1); }", "m is read as int8, which does not hold every uint8; choose a narrower type for it, or a wider DataType"},
		{head + "DataType int Fields (u) ReadOnly (m: float) CellValue { return get(u, 1); }", "m is read as int32, which does not hold every float32"},
		{head + "Fields (u) ReadOnly (m: uint8) InputRange m (0, 0.5) CellValue { return get(u, 1); }", "InputRange must hold values of uint8"},
		{head + "Fields (u) ReadOnly (m: uint8) InputRange m {0, 128, 256} CellValue { return get(u, 1); }", "InputRange must hold values of uint8"},
		{head + "Fields (u) ReadOnly (m: uint8) InputRange m {0, 0.5, 1} CellValue { return get(u, 1); }", "InputRange must hold values of uint8"},
	} {
		if _, err := Parse("s", "s.sl", c.src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.src, err, c.want)
		}
	}
	for _, src := range []string{
		head + "DataType int64 Fields (u) ReadOnly (m: uint32, n: int64) CellValue { return get(u, 1) + get(m, 0) * get(n, 1); }",
		head + "DataType double Fields (u) ReadOnly (m: unsigned int64) CellValue { return get(u, 1) + get(m, 0); }",
	} {
		mustParse(t, src)
	}
}
