package host_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

var (
	flagReduced = flag.Int("reduced", 9, "cases of the kernel of each Reduce")
	flagReduce  = flag.String("reduce", "../../examples/stencils/relaxation.sl", "stencil `files` with one, beside the test's own")
)

// reductions are programs whose Reduce uses all that it may.
var reductions = []string{
	"NumDimensions 1 StencilSize (1) CellValue { return 0.5 * get(1); } Reduce max { return fabs(value - get(0)); } Until < 1e-3 every 4",
	"NumDimensions 2 StencilSize (2, 1) Boundary wrap ScalarVariables (float a = 3) CellValue { return get(1, 0); } Reduce sum { return a * value * get(-2, 1); }",
	"NumDimensions 3 StencilSize (1, 1, 1) Boundary fixed CellValue { return get(1, 0, 0); } Reduce min { return value + 0.01 * x - get(0, 0, -1); }",
	"NumDimensions 2 StencilSize (1, 1) Fields (u, v) ReadOnly (w) CellValue { return get(v, 1, 0), get(u, 0, 1); } EdgeValue u { return value + 0.1 * x; } EdgeValue v { return 0.25; } " +
		"Reduce sum { float d = value(u) - get(v, 1, 1); if (x > iteration) d = d * get(w, -1, 0); return d * d; }",
	"NumDimensions 2 StencilSize (1, 1) DataType int InputRange (-50, 50) Boundary constant 9 CellValue { return get(1, 0); } Reduce sum { return value * get(0, 1) - read(y); }",
	"NumDimensions 1 StencilSize (3) DataType uint8 InputRange (0, 255) Boundary mirror CellValue { return get(1); } Reduce max { return value - get(3); }",
	"NumDimensions 2 StencilSize (1, 1) DataType int64 InputRange (-9, 9) CellValue { return get(1, 0); } Reduce min { return value * 1000000007 - get(-1, 0); }",
	"NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap ScalarVariables (float k = 2) CellValue { return get(0, 0, 1); } Reduce sum { return sin(k * value) / (2 + get(0, 0, 0)) - exp(get(1, -1, 0)); }",
	"NumDimensions 2 StencilSize (1, 1) DataType float16 InputRange (1, 900) CellValue { return get(1, 0); } Reduce sum { return value + 0.1 * get(0, 0); }",
	"NumDimensions 2 StencilSize (1, 1) Fields (u: uint8, v) InputRange u (0, 200) CellValue { return get(u, 1, 0), get(v, 0, 1); } Reduce max { return get(u, 0, 0) > 100 ? value(v) : -5; }",
	"NumDimensions 1 StencilSize (1) DataType int64 InputRange (-1000000000, 1000000000) CellValue { return get(1); } Reduce sum { return value * 2000000000 + get(0); }",
}

// The kernel of every Reduce gives the reference's number, in every element type, within a bound that is not much too wide.
func TestReductionsGiveTheReferencesNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	programs := half(t, reductions)
	for file := range strings.SplitSeq(*flagReduce, ",") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, string(text))
	}
	var cases []*verify.Reduction
	var ks []kernels.Kernel
	for i, src := range programs {
		st := stenciltest.Parse(t, fmt.Sprint("reduction", i), src)
		for _, dtype := range st.DTypes() {
			for j := range *flagReduced {
				c := verify.Reduce(verify.Random(*flagSeed, j), stencil.Problem{Stencil: st, DType: dtype, Steps: 1}, j)
				if cases = append(cases, c); j == 0 {
					ks = append(ks, c.Kernel)
				}
			}
		}
	}
	bs, err := d.CompileBatch(context.Background(), ks)
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string][]float64{}
	for i, c := range cases {
		of := c.Problem.Stencil.Name + " in " + string(c.Problem.DType)
		pass := device.Pass{Binary: bs[i / *flagReduced], Launch: c.Kernel.Launch, Count: 1}
		for _, seed := range c.Seeds {
			got, err := d.Check(context.Background(), device.Check{Problem: c.Problem, Passes: []device.Pass{pass}, Seed: seed, Reduce: true})
			if err == nil && got.Unproved() {
				t.Logf("%s: %s", of, got.Reason(c.Problem.Size))
			} else if err != nil || !got.OK() {
				t.Errorf("%s, seed %d: %v %s\n%s", of, seed, err, got.Reason(c.Problem.Size), c.Problem.Stencil.Text())
			}
			shares[of] = append(shares[of], got.Share)
		}
	}
	for of, list := range shares {
		slices.Sort(list)
		t.Logf("%s: %d cases, the error is %.2g of the bound in the median, %.2g at most", of, len(list), list[len(list)/2], list[len(list)-1])
	}
}
