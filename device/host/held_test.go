package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// Cells that never change are the very bits that they were, whatever the sums around them are multiples of.
func TestHeldCellsKeepEveryBit(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	box := stenciltest.Lookup(t, "jacobi3d27")
	const (
		nine = "CellValue { return (7 * get(-1, -1) + 5 * get(0, -1) + 9 * get(1, -1) + 12 * get(-1, 0) + 15 * get(0, 0) + 12 * get(1, 0) + 9 * get(-1, 1) + 5 * get(0, 1) + 7 * get(1, 1)) / 118; }"
		star = "CellValue { return 0.143 * get(0, 0, 0) + 0.1427 * (get(-1, 0, 0) + get(1, 0, 0) + get(0, -1, 0) + get(0, 1, 0) + get(0, 0, -1) + get(0, 0, 1)); }"
	)
	for i, c := range half(t, []struct {
		stencil  string
		dtype    stencil.DType
		size     stencil.Size
		schedule string
	}{
		{"NumDimensions 2 StencilSize (1, 1) Boundary fixed " + nine, stencil.Float32, stencil.Size{515, 67, 1}, "stream/vx=8/vy=1/wp=1/ck=4/pf=4/mb=1/ph=5/sm=2/pm=1"},
		{"NumDimensions 2 StencilSize (1, 1) Boundary fixed " + nine, stencil.Float64, stencil.Size{260, 67, 1}, "stream/vx=4/vy=1/wp=4/ck=2/pf=2/mb=1/ph=3"},
		{"NumDimensions 3 StencilSize (1, 1, 1) Boundary fixed " + star, stencil.Float32, stencil.Size{150, 50, 21}, "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=3/pm=1"},
		{strings.Replace(box.Text(), "Boundary clamp", "Boundary fixed", 1), stencil.Float32, stencil.Size{70, 40, 21}, "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/pm=1"},
		{"NumDimensions 3 StencilSize (1, 1, 1) Boundary fixed " + star, stencil.BFloat16, stencil.Size{130, 50, 21}, "stream/vx=4/vy=4/wp=8/ck=2/pf=1/mb=1/ph=2"},
		{"NumDimensions 2 StencilSize (1, 1) Boundary fixed " + nine, stencil.Float32, stencil.Size{517, 67, 1}, "stream/vx=8/vy=1/wp=1/ck=4/pf=4/mb=1/ph=5/sm=2/pm=2"},
		{"NumDimensions 3 StencilSize (1, 1, 1) Boundary fixed " + star, stencil.Float32, stencil.Size{151, 50, 21}, "stream/vx=2/vy=4/wp=8/ck=2/pf=2/mb=1/ph=3/pm=2"},
		{strings.Replace(box.Text(), "Boundary clamp", "Boundary fixed", 1), stencil.Float64, stencil.Size{70, 40, 21}, "stream/vx=2/vy=4/wp=8/ck=1/pf=2/mb=1/ph=2/pm=2"},
	}) {
		st := stenciltest.Parse(t, "held", c.stencil)
		s := spacetest.Schedule(t, c.schedule)
		p := stencil.Problem{Stencil: st, DType: c.dtype, Size: c.size, Steps: 100}
		k := kernels.Find(all.Families(), s.Family()).Kernel(p, s)
		b, err := d.Compile(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		seed := rand.Uint32()
		raw, err := d.Answer(context.Background(), p, []device.Pass{{Binary: b, Launch: k.Launch, Count: 40}}, seed)
		if err != nil {
			t.Fatal(err)
		}
		got, want, wrong := stencil.Widen(c.dtype, raw), stencil.Start(p, seed).Fields[0].Float, ""
		if len(got) != len(want) || (st.Dims == 2 || s.Int("pm", 0) == 2) != strings.Contains(k.Source, "// The weights are multiples of") {
			t.Fatalf("case %d: %d cells of %d, or no multiples", i, len(got), len(want))
		}
		changed := 0
		for n := range got {
			x, y, z := n%c.size[0], n/c.size[0]%c.size[1], n/c.size[0]/c.size[1]
			edge := x == 0 || y == 0 || x == c.size[0]-1 || y == c.size[1]-1 || st.Dims == 3 && (z == 0 || z == c.size[2]-1)
			switch start := c.dtype.Round(want[n]); {
			case edge && got[n] != start:
				wrong = fmt.Sprintf("(%d, %d, %d) is %v, was %v", x, y, z, got[n], start)
			case !edge && got[n] != start:
				changed++
			}
		}
		if wrong != "" || changed == 0 {
			t.Errorf("case %d, seed %d: %s; %d others changed", i, seed, wrong, changed)
		}
	}
}
