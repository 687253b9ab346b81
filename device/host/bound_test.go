package host_test

import (
	"context"
	"strings"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// awkward are right programs whose numbers a bound must follow: constants that are larger than the values,
// sources at places of their own, coordinates, growth, decisions.
var awkward = map[string]string{
	"ambient":  "NumDimensions 1 StencilSize (1) CellValue { return 0.9 * get(0) + 0.05 * (get(-1) + get(1)) + 0.1 * (300 - get(0)); }",
	"source":   "NumDimensions 2 StencilSize (1, 1) CellValue { float v = 0.2 * (get(0, 0) + get(-1, 0) + get(1, 0) + get(0, -1) + get(0, 1)); if (x == 60 && y == 50) v += 1e6; return v; }",
	"parabola": "NumDimensions 1 StencilSize (1) CellValue { return 0.3 * (get(-1) + get(1)) + 0.01 * x * x; }",
	"growth":   "NumDimensions 2 StencilSize (1, 0) CellValue { float a = 0.5 * (get(-1, 0) + get(1, 0)); for (int i = 0; i < 9; i++) a = a * a + a; return a; }",
	"decision": "NumDimensions 2 StencilSize (1, 1) CellValue { return get(0, 0) > 0.1 ? 0.7 * get(-1, 0) + 0.3 * get(0, 1) : -0.4 * get(1, 0) - floor(3 * get(0, -1)); }",
	"offset":   "NumDimensions 2 StencilSize (1, 1) InputRange (300, 301) CellValue { return get(0, 0) + 0.1 * (get(-1, 0) - 2 * get(0, 0) + get(1, 0)) + 0.1 * (get(0, -1) - 2 * get(0, 0) + get(0, 1)); }",
	"quotient": "NumDimensions 2 StencilSize (1, 1) InputRange (1, 2) CellValue { return sqrt(get(0, 0) / get(1, 0) + get(0, 1) / 7) * exp(-get(-1, 0)) + 1; }",
}

func TestRightKernelsOfAwkwardProgramsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	source := verify.NewSource(d.Machine(), all.Families())
	var cases []verify.Case
	for name, text := range awkward {
		st := stenciltest.Parse(t, name, text)
		for _, dtype := range []stencil.DType{stencil.Float32, stencil.Float64} {
			list, err := source.Cases(stencil.Problem{Stencil: st, DType: dtype}, *flagSeed, 0, 3)
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, list...)
		}
	}
	devicetest.Check(t, d, cases)
}

// A wrong last column enters the eighth-order sum by its smallest weight alone.
func TestAWrongLastColumnIsFoundInFloat32(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	st := stenciltest.Lookup(t, "acoustic3d")
	source := verify.NewSource(d.Machine(), []kernels.Family{kernels.Find(all.Families(), "tile")})
	cases, err := source.Cases(stencil.Problem{Stencil: st, DType: stencil.Float32}, *flagSeed, 0, 6)
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = "const T value = __ldg(grid.in[a] + from);", "const T value = __ldg(grid.in[a] + from) * (T)(tx == READ_X - 1 ? 0.5 : 1);"
	for i := range cases {
		for _, k := range []*kernels.Kernel{&cases[i].Kernel, cases[i].Remainder} {
			if k == nil {
				continue
			}
			if !strings.Contains(k.Source, right) {
				t.Fatal("the loader has changed")
			}
			k.Source = strings.Replace(k.Source, right, wrong, 1)
		}
	}
	found, able := 0, 0
	err = verify.Run(context.Background(), d, cases, func(c verify.Case, r verify.Result) bool {
		if r.Failure != nil {
			t.Error(r.Failure)
		}
		// A grid that ends before the last column of its only tile reads none.
		if c.Is(verify.Small) {
			return true
		}
		able++
		if !r.OK() {
			found++
		}
		return found == 0 // one is enough, and each takes the reference long
	})
	if err != nil || able == 0 || found == 0 {
		t.Errorf("%d of %d are found: %v", found, able, err)
	}
	t.Logf("%d of %d cases find it", found, able)
}

func TestAnErrorIsFoundInWhicheverFieldItIs(t *testing.T) {
	devicetest.CheckFieldsApart(t, open(t, host.Options{}))
}
