package stream

import (
	"strings"
	"testing"

	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// Sums that held cells, EdgeValue or rules by side make are computed in float, as are those of other types.
func TestSumsArePackedWhereTheElementTypeAndTheRulesAllow(t *testing.T) {
	for _, c := range []struct {
		stencil *stencil.Stencil
		dtype   stencil.DType
		packed  bool
	}{
		{stenciltest.Lookup(t, "jacobi2d"), stencil.Float16x2, true},
		{stenciltest.Lookup(t, "jacobi2d"), stencil.Float16, false},
		{edged(t, "jacobi2d9", "mirror"), stencil.Float16x2, true},
		{edged(t, "jacobi2d9", "fixed"), stencil.Float16x2, false},
		{edged(t, "jacobi2d9", "(wrap, clamp)"), stencil.Float16x2, false},
		{parsed(t, "1, 1", "return get(0, 0) + 1e-5 * get(1, 0);"), stencil.Float16x2, false}, // which float16 holds to 8 bits
		{stenciltest.Lookup(t, "plate"), stencil.Float16x2, false},                            // EdgeValue
	} {
		p, s := problem(c.stencil, c.dtype, flat), spacetest.Schedule(t, "stream/vx=8/vy=1/wp=4/ck=1/pf=2/mb=1/ph=2")
		k := Family{}.Kernel(p, s)
		if strings.Contains(k.Source, "namespace packed {") != c.packed {
			t.Errorf("%s %s, boundary %s: packed is not %t", c.stencil.Name, c.dtype, c.stencil.Boundary, c.packed)
		}
		plain := p
		plain.DType = stencil.Float16
		if fewer := (Family{}).Work(p, s).Flops < 0.7*(Family{}).Work(plain, s).Flops; fewer != c.packed {
			t.Errorf("%s %s, boundary %s: %g instructions of arithmetic", c.stencil.Name, c.dtype, c.stencil.Boundary, (Family{}).Work(p, s).Flops)
		}
	}
}

func TestNumbersOfPackedTextAreTheBitsOfTwo(t *testing.T) {
	if got, want := packedText("Real w = Real(0.2) * Real(-1e-05) + Real(-0.0);"), "Real w = Packed(0x32663266u /* 0.2 */) * Packed(0x80a880a8u /* -1e-05 */) + Nothing();"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
