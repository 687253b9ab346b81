package host_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/kernels"
	"stenciltune/kernels/reduce"
	"stenciltune/stencil"
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
}

func TestReductionsGiveTheReferencesNumber(t *testing.T) {
	d := open(t, host.Options{})
	r := rand.New(rand.NewPCG(5, 5))
	type reduction struct {
		op     string
		parent *stencil.Stencil
		p      stencil.Problem // of the parent's reduction
	}
	var list []reduction
	var ks []kernels.Kernel
	for i, src := range reductions {
		st, err := stencil.Parse(fmt.Sprint("reduction", i), "r.sl", src)
		if err != nil {
			t.Fatal(err)
		}
		types := st.DTypes()
		for _, dtype := range types {
			size := stencil.Size{1, 1, 1}
			for a := range st.Dims {
				size[a] = 1 + r.IntN([]int{4000, 150, 40}[st.Dims-1])
			}
			p := stencil.Problem{Stencil: st, DType: dtype, Size: size, Steps: 1}
			k := reduce.Kernel(p)
			p.Stencil = st.Reduction()
			ks, list = append(ks, k), append(list, reduction{st.Reduce.Op, st, p})
		}
	}
	bs, err := d.CompileBatch(context.Background(), ks)
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range list {
		for _, size := range []stencil.Size{one.p.Size, {3, 1, 1}, {one.p.Size[0], 1, 1}} {
			p := one.p.Resized(size)
			whole := p
			whole.Stencil = one.parent
			launch := reduce.Kernel(whole).Launch
			// The emulation's output is a field: the blocks' doubles must fit into it.
			if int64(8*launch.Blocks()) > p.Bytes() {
				continue
			}
			raw, err := d.Answer(context.Background(), p, []device.Pass{{Binary: bs[i], Launch: launch, Count: 1}}, 11)
			if err != nil {
				t.Fatal(err)
			}
			// The output field is the first of those after the step.
			raw = raw[p.Bytes()*int64(len(one.parent.Fields)):]
			partials := make([]float64, launch.Blocks())
			for b := range partials {
				partials[b] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*b:]))
			}
			cells := int(p.Size.Cells())
			values := stencil.Expected(p, 11, 1)[cells*len(one.parent.Fields):][:cells]
			got, want := fold(one.op, partials), fold(one.op, values)
			tolerance := stencil.Tolerance(p, 1)
			if one.op == "sum" {
				tolerance *= float64(cells)
			}
			if !(math.Abs(got-want) <= tolerance) {
				t.Errorf("%s in %s on %v: %v, want %v, tolerance %v\n%s", one.op, p.DType, p.Size, got, want, tolerance, one.parent.Text())
			}
		}
	}
}

// fold joins numbers in order, as a launcher does.
func fold(op string, numbers []float64) float64 {
	total := numbers[0]
	for _, n := range numbers[1:] {
		switch op {
		case "sum":
			total += n
		case "min":
			total = min(total, n)
		case "max":
			total = max(total, n)
		}
	}
	return total
}
