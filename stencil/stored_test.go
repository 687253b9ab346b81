package stencil

import (
	"math"
	"slices"
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
	// In one dimension a profile has an element for each cell: 4 + 2 + 1 + 2 are read and 4 written.
	if p.Traffic() != 13 || p.Compulsory() != 13 || p.ReadShare() != 9.0/16 {
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
		{head + "Fields (u, m: byte) CellValue { return get(u, 1), 1; }", `unknown element type "byte": use int`},
		{head + "DataType int8 Fields (u, m: uint8) CellValue { return get(u, 1), 1; }", "m is read as int8, which does not hold every uint8; choose a narrower type for it, or a wider DataType"},
		{head + "Fields (u, m: uint8) Boundary m constant 0.5 Boundary u clamp CellValue { return get(u, 1), 1; }", "1:65: 0.5 is no uint8, which m is stored in"},
		{head + "DataType int64 Boundary constant 9007199254740993 CellValue { return get(1); }", "a rule's number is less than 2^53; write a larger one as EdgeValue"},
		{head + "Fields (u: float16) Boundary constant 1e6 CellValue { return get(u, 1); }", "1e+06 is no float16, which u is stored in"},
		{"NumDimensions 1 StencilSize (0) DataType int Fields (u, m: uint8) InputRange (0, 1000) CellValue { return get(u, 0), 1; }", "as which m is stored; give it one of its own: InputRange m (0, 1)"},
		{head + "Fields (u, m: uint8) InputRange m (0, 256) CellValue { return get(u, 1), 1; }", "InputRange must hold values of uint8"},
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

// crust has fields of three types: the plain loop of crusted.
const crust = "NumDimensions 2 StencilSize (1, 1) Fields (u: float16, v, old: float16, cold: uint8) Boundary clamp Boundary v (constant 0.1, clamp) Boundary cold constant 1 InputRange (0.2, 1) " +
	"CellValue { return 0.6 * get(u, 0, 0) + 0.1 * (get(u, 1, 0) + get(u, 0, -1)) + 0.2 * get(v, -1, 0), 0.5 * get(v, 0, 0) + 0.3 * get(cold, 1, 0) + 0.1 * get(old, 0, 1), " +
	"get(u, 0, 0), 100 * get(cold, 0, 0) + 300 * get(u, 0, 0) - 40; }"

// crusted is steps of crust, with what is set in u and old rounded by a function.
func crusted(p Problem, start Data, steps int, round func(float64) float64) []float64 {
	nx, ny := p.Size[0], p.Size[1]
	u, v, old, cold := start.Fields[0].Float, start.Fields[1].Float, start.Fields[2].Float, start.Fields[3].Float
	near := func(f []float64, x, y int) float64 { return f[min(max(y, 0), ny-1)*nx+min(max(x, 0), nx-1)] }
	for range steps {
		var now [4][]float64
		for y := range ny {
			for x := range nx {
				left, right := 0.1, 1.0
				if x > 0 {
					left = v[y*nx+x-1]
				}
				if x < nx-1 {
					right = cold[y*nx+x+1]
				}
				now[0] = append(now[0], round(0.6*near(u, x, y)+0.1*(near(u, x+1, y)+near(u, x, y-1))+0.2*left))
				now[1] = append(now[1], Float32.Round(0.5*near(v, x, y)+0.3*right+0.1*near(old, x, y+1)))
				now[2] = append(now[2], near(u, x, y))
				now[3] = append(now[3], min(max(math.Trunc(100*near(cold, x, y)+300*near(u, x, y)-40), 0), 255))
			}
		}
		u, v, old, cold = now[0], now[1], now[2], now[3]
	}
	return slices.Concat(u, v, old, cold)
}

func TestFieldsAreStoredInTypesOfTheirOwn(t *testing.T) {
	p := Problem{Stencil: mustParse(t, crust), DType: Float32, Size: Size{40, 30, 1}}
	for a, want := range []DType{Float16, Float32, Float16, Uint8} {
		if got := p.Stored(a); got != want {
			t.Errorf("field %d is stored in %s, want %s", a, got, want)
		}
	}
	// 2 + 4 + 2 + 1 bytes are read; old takes over the array of u.
	if p.Traffic() != 9+7 || p.ReadShare() != 9.0/16 || p.WriteShare(1) != 7.0/12 || p.WriteShare(2) != 9.0/16 || p.FieldBytes() != 40*30*9 {
		t.Errorf("traffic %d, shares %v, %v and %v, %d bytes", p.Traffic(), p.ReadShare(), p.WriteShare(1), p.WriteShare(2), p.FieldBytes())
	}
	const steps = 3
	start, want := Start(p, 1), Judge(p, 1, steps)
	if c := want.Compare(crusted(p, start, steps, Float16.Round)); !c.OK() || c.Blind > c.Cells/8 {
		t.Errorf("a plain loop: %s, %d of %d cells blind", c.Reason(p.Size), c.Blind, c.Cells)
	}
	if c := want.Compare(crusted(p, start, steps, func(v float64) float64 { return Float16.Round(v * (1 - 0x1p-8)) })); c.OK() {
		t.Error("a loop that loses 8 bits passes")
	}
	if untyped := mustParse(t, strings.NewReplacer(": float16", "", ": uint8", "").Replace(crust)); untyped.Hash == p.Stencil.Hash {
		t.Error("types of fields make no difference to the hash")
	}
}

// Where an older level has another type it is converted, so arrays do not change places; what lies outside is of the field's type.
func TestWhatFieldsOfATypeHold(t *testing.T) {
	p := Problem{Stencil: mustParse(t, "NumDimensions 1 StencilSize (1) Fields (a: uint8, b, c: float16) Boundary constant 3 EdgeValue c { return 0.1; } CellValue { return get(a, -1) + 0.7, get(a, 0), get(c, 1) + get(b, 0); }"), DType: Float64, Size: Size{4, 1, 1}}
	if len(p.Stencil.Stages[0].Copies) > 0 {
		t.Error("arrays of uint8 and double change places")
	}
	got := Run(p, Data{Fields: []Values{{Float: []float64{1, 2, 255, 4}}, {Float: []float64{0, 0, 0, 0}}, {Float: []float64{1, 2, 3, 4}}}}, 1)
	for f, want := range [][]float64{{3, 1, 2, 255}, {1, 2, 255, 4}, {2, 3, 4, 0.0999755859375}} {
		if !slices.Equal(got.Fields[f].Float, want) {
			t.Errorf("field %d: %v, want %v", f, got.Fields[f].Float, want)
		}
	}
}

// A rule of an axis that the grid has not is no rule of a field that it cannot hold.
func TestARuleOfNoAxisIsHeldByEveryType(t *testing.T) {
	if _, err := Parse("s", "s.sl", "NumDimensions 2 StencilSize (1, 1) Fields (h, c: int8) Boundary (wrap, constant 0.5) Boundary c y mirror CellValue { return get(h, 1, 0), get(c, 0, 1); }"); err != nil {
		t.Error(err)
	}
}

// A range of all leaves out what has its own.
func TestARangeOfAllIsNotOfWhatHasItsOwn(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (0) DataType int Fields (u, m: uint8) InputRange (0, 1000) InputRange m (0, 200) CellValue { return get(u, 0), 1; }")
	if u, m := s.Fields[0].Range, s.Fields[1].Range; u.High != 1000 || m.High != 200 {
		t.Errorf("%v, %v", u, m)
	}
}
