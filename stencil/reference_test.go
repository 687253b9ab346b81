package stencil

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func lookup(t testing.TB, name string) *Stencil {
	t.Helper()
	s, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// jacobi is one step of the Jacobi stencils written by hand, boundary and all: no
// code in common with Reference.
func jacobi(dims int, n Size, in []float64) []float64 {
	at := func(x, y, z int) float64 {
		if x < 0 {
			x = 0
		}
		if x == n[0] {
			x--
		}
		if y < 0 {
			y = 0
		}
		if y == n[1] {
			y--
		}
		if z < 0 {
			z = 0
		}
		if z == n[2] {
			z--
		}
		return in[x+n[0]*y+n[0]*n[1]*z]
	}
	var out []float64
	for z := range n[2] {
		for y := range n[1] {
			for x := range n[0] {
				if dims == 2 {
					out = append(out, 0.2*(at(x, y, 0)+at(x-1, y, 0)+at(x+1, y, 0)+at(x, y-1, 0)+at(x, y+1, 0)))
				} else {
					out = append(out, 0.14285714285714285*(at(x, y, z)+at(x-1, y, z)+at(x+1, y, z)+at(x, y-1, z)+at(x, y+1, z)+at(x, y, z-1)+at(x, y, z+1)))
				}
			}
		}
	}
	return out
}

func TestReferenceEqualsAHandWrittenLoopOnOddSizes(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []Size
	}{
		{"jacobi2d", []Size{{1, 1, 1}, {2, 1, 1}, {1, 5, 1}, {3, 2, 1}, {67, 45, 1}, {197, 83, 1}}},
		{"jacobi3d", []Size{{1, 1, 1}, {2, 1, 3}, {1, 1, 7}, {5, 4, 3}, {31, 17, 13}, {67, 45, 29}}},
	} {
		s := lookup(t, c.name)
		for _, n := range c.sizes {
			in := Fill(11, n.Cells())
			before := slices.Clone(in)
			want := in
			for steps := range 4 {
				got := Reference(Problem{Stencil: s, DType: Float64, Size: n}, in, steps)
				if !slices.Equal(got, want) {
					t.Errorf("%s on %v differs after %d steps", c.name, n, steps)
				}
				want = jacobi(s.Dims, n, want)
			}
			if !slices.Equal(in, before) {
				t.Errorf("%s on %v changed its input", c.name, n)
			}
		}
	}
}

func TestConstantGridStaysConstantUnderAverages(t *testing.T) {
	for name, n := range map[string]Size{"jacobi2d": {33, 21, 1}, "jacobi3d": {13, 11, 9}} {
		in := make([]float64, n.Cells())
		for i := range in {
			in[i] = 0.75
		}
		for i, v := range Reference(Problem{Stencil: lookup(t, name), DType: Float64, Size: n}, in, 10) {
			if math.Abs(v-0.75) > 10*10*Float64.Epsilon() {
				t.Fatalf("%s: cell %d became %v", name, i, v)
			}
		}
	}
}

func TestReferenceClampsFarBeyondTheEdge(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (5) CellValue { return get(-5) + 10 * get(4); }")
	got := Reference(Problem{Stencil: s, DType: Float64, Size: Size{3, 1, 1}}, []float64{1, 2, 3}, 1)
	if want := []float64{31, 31, 31}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReferenceRunsLocalsAndFunctions(t *testing.T) {
	s := mustParse(t, `NumDimensions 1 StencilSize (1) CellValue {
		float a = get(0), b, c = 3;
		a = a * a; b = sqrt(a); c = c - b;
		return fmax(fmin(c, 2), fabs(-get(1))) + exp(0) + log(1) - -b / 4; }`)
	in := []float64{-2, 0.5, 5}
	got := Reference(Problem{Stencil: s, DType: Float64, Size: Size{3, 1, 1}}, in, 1)
	for x := range in {
		b := math.Abs(in[x])
		want := math.Max(math.Min(3-b, 2), math.Abs(in[min(x+1, 2)])) + 1 + 0 + b/4
		if math.Abs(got[x]-want) > 1e-15 {
			t.Errorf("cell %d is %v, want %v", x, got[x], want)
		}
	}
}

func TestMinimumAndMaximumTreatNaNAsMissingLikeC(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ a, b, low, high float64 }{{1, 2, 1, 2}, {2, 1, 1, 2}, {nan, 1, 1, 1}, {1, nan, 1, 1}, {-1, math.Inf(1), -1, math.Inf(1)}} {
		if minimum(c.a, c.b) != c.low || maximum(c.a, c.b) != c.high {
			t.Errorf("fmin, fmax of %v and %v: %v, %v", c.a, c.b, minimum(c.a, c.b), maximum(c.a, c.b))
		}
	}
	if !math.IsNaN(minimum(nan, nan)) || !math.IsNaN(maximum(nan, nan)) {
		t.Error("of two NaN there must be NaN")
	}
}

// single evaluates an expression as a kernel in float does: every literal and
// every result rounded.
func single(e Expr, get func(Offset) float32, locals []float32) float32 {
	switch e := e.(type) {
	case Num:
		return float32(e.Value)
	case Local:
		return locals[e.Index]
	case Get:
		return get(e.At)
	case Neg:
		return -single(e.X, get, locals)
	case Binary:
		x, y := single(e.X, get, locals), single(e.Y, get, locals)
		switch e.Op {
		case "+":
			return float32(x + y)
		case "-":
			return float32(x - y)
		case "*":
			return float32(x * y)
		}
		return float32(x / y)
	}
	panic("no such expression in the catalogue yet")
}

// inSingle is Reference in float32.
func inSingle(s *Stencil, n Size, in []float64, steps int) []float64 {
	src, dst := make([]float32, len(in)), make([]float32, len(in))
	for i, v := range in {
		src[i] = float32(v)
	}
	locals := make([]float32, len(s.Stages[0].Body))
	for range steps {
		for i := range dst {
			x, y, z := i%n[0], i/n[0]%n[1], i/n[0]/n[1]
			get := func(o Offset) float32 {
				cx, cy, cz := clampIndex(x+o[0], n[0]), clampIndex(y+o[1], n[1]), clampIndex(z+o[2], n[2])
				return src[(cz*n[1]+cy)*n[0]+cx]
			}
			for _, st := range s.Stages[0].Body {
				switch st := st.(type) {
				case Let:
					locals[st.Local] = single(st.Value, get, locals)
				case Return:
					dst[i] = single(st.Values[0], get, locals)
				}
			}
		}
		src, dst = dst, src
	}
	out := make([]float64, len(in))
	for i, v := range src {
		out[i] = float64(v)
	}
	return out
}

func TestToleranceHoldsForRoundingAndNotForAShiftByOneCell(t *testing.T) {
	for _, name := range []string{"jacobi2d", "jacobi3d"} {
		s := lookup(t, name)
		rapid.Check(t, func(t *rapid.T) {
			n := Size{1, 1, 1}
			for a := range s.Dims {
				n[a] = rapid.IntRange(8, 20).Draw(t, "extent")
			}
			p := Problem{Stencil: s, DType: Float32, Size: n}
			steps := rapid.IntRange(1, 9).Draw(t, "steps")
			in := Fill(rapid.Uint32().Draw(t, "seed"), n.Cells())
			want, got := Reference(p, in, steps), inSingle(s, n, in, steps)
			tolerance := Tolerance(p, steps)

			c := Compare(got, want, tolerance)
			if !c.OK() {
				t.Fatalf("float32 alone is beyond the tolerance: %s", c.Reason(n))
			}
			if steps > 1 && c.MaxError == 0 {
				t.Fatalf("float32 has no error at all: the test compares nothing")
			}
			shifted := append(slices.Clone(got[1:]), got[0])
			c = Compare(shifted, want, tolerance)
			if c.OK() || c.Wrong < c.Cells/2 || c.MaxError < 100*tolerance {
				t.Fatalf("a shift by one cell: %d of %d wrong, error %g, tolerance %g", c.Wrong, c.Cells, c.MaxError, tolerance)
			}
		})
	}
}

func TestOneWrongBoundaryCellIsBeyondTheTolerance(t *testing.T) {
	s, n := lookup(t, "jacobi2d"), Size{19, 7, 1}
	p := Problem{Stencil: s, DType: Float32, Size: n}
	in := Fill(5, n.Cells())
	want := Reference(p, in, 1)
	got := slices.Clone(want)
	got[18] = 0.2 * (in[18] + in[17] + in[19] + in[18] + in[18+19]) // wraps into the next row
	c := Compare(got, want, Tolerance(p, 1))
	if c.Wrong != 1 || c.First != 18 {
		t.Errorf("%+v", c)
	}
}

func TestToleranceFollowsTheValuesAndTheType(t *testing.T) {
	p := Problem{Stencil: lookup(t, "jacobi3d"), DType: Float32, Size: Size{9, 9, 9}}
	one, ten := Tolerance(p, 1), Tolerance(p, 10)
	if one <= 0 || ten <= 0 || ten > 1.5*one || one > 1e-6 { // a mean: values shrink, and errors with them
		t.Errorf("tolerance %g after one step, %g after ten", one, ten)
	}
	p.DType = Float64
	if r := one / Tolerance(p, 1); r < 0x1p28 || r > 0x1p32 {
		t.Errorf("float is granted %g times what double is", r)
	}
}

// A number that float does not hold is infinite to a kernel, and so to the reference.
func TestReferenceHasTheNumbersThatKernelsHave(t *testing.T) {
	s := mustParse(t, line("return get(0) > 0 ? 1e39 : 0.5;"))
	for d, want := range map[DType]float64{Float32: math.Inf(1), Float64: 1e39} {
		if got := Reference(Problem{Stencil: s, DType: d, Size: Size{1, 1, 1}, Steps: 1}, []float64{1}, 1); got[0] != want {
			t.Errorf("%s: %v, want %v", d, got[0], want)
		}
	}
}
