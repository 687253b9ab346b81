package devicetest

import (
	"context"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// fieldsApart has a field of large numbers, one of small ones, one that is 0 but at one place of a large grid, and one of integers; what is
// off by a thousandth in the others must not hide behind the errors of the first.
const fieldsApart = `NumDimensions 2
StencilSize (1, 1)
DataType float
Fields (large, small, rare, count: uint8)
Boundary wrap
InputRange large (1e6, 2e6)
InputRange small (1e-3, 2e-3)
InputRange rare {0}
InputRange count {0, 1, 2, 3}
CellValue {
  float mean = 0.2 * (get(large, 0, 0) + get(large, 1, 0) + get(large, -1, 0) + get(large, 0, 1) + get(large, 0, -1));
  return mean, 0.999 * (0.5 * get(small, 0, 0) + 0.25 * (get(small, 1, 0) + get(small, -1, 0))),
    0.999 * get(rare, 1, 0) + (x == 200 && y == 100 ? 1e-3 : 0), get(count, 0, 1);
}`

// CheckFieldsApart compares right and wrong kernels with a trusted one on a grid that is too large for the reference: an error is found in
// whichever field it is.
func CheckFieldsApart(t testing.TB, d device.Device) {
	t.Helper()
	s, err := space.ParseSchedule("global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0")
	if err != nil {
		t.Fatal(err)
	}
	const steps = 3
	pass := func(text string) (stencil.Problem, device.Pass) {
		p := stencil.Problem{Stencil: stenciltest.Parse(t, "apart", text), DType: stencil.Float32, Size: stencil.Size{515, 301, 1}, Steps: steps}
		k := kernels.Find(all.Families(), "global").Kernel(p, s)
		b, err := d.Compile(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		return p, device.Pass{Binary: b, Launch: k.Launch, Count: steps}
	}
	p, trusted := pass(fieldsApart)
	for _, c := range []struct {
		old, new string
		array    int64 // the first that is wrong; -1: none
	}{
		{"0.2 * (get(large, 0, 0) + get(large, 1, 0)", "0.2 * (get(large, 1, 0) + get(large, 0, 0)", -1}, // another order of the sum
		{"mean = 0.2", "mean = 0.2002", 0},
		{"0.999 * (0.5", "1.000 * (0.5", 1},
		{"0.999 * get(rare", "1.000 * get(rare", 2},
		{"get(count, 0, 1)", "get(count, 1, 0)", 3},
	} {
		text := strings.Replace(fieldsApart, c.old, c.new, 1)
		if text == fieldsApart {
			t.Fatalf("no %q in the program", c.old)
		}
		_, other := pass(text)
		got, err := d.Check(context.Background(), device.Check{Problem: p, Seed: 7, Passes: []device.Pass{other}, Trusted: []device.Pass{trusted}, Allowed: stencil.Between(p, steps)})
		if err != nil {
			t.Fatal(err)
		}
		if array := got.First / p.Size.Cells(); got.OK() != (c.array < 0) || !got.OK() && array != c.array {
			t.Errorf("with %q for %q: %d cells wrong, the first in field %d; %s", c.new, c.old, got.Wrong, array, got.Reason(p.Size))
		}
		d.Release(other.Binary)
	}
	d.Release(trusted.Binary)
}
