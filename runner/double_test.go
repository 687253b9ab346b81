package runner

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"stenciltune/device"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// The winner's design is proved in float64 too, with its remainder launch, after the winner itself.
func TestTheWinnersDesignIsProvedInFloat64(t *testing.T) {
	d := newFake(t)
	first, rest := tile(64, 4, 2, 4), tile(64, 4, 2, 1)
	d.seconds = at(map[string]float64{first: 80e-6})
	o := options(t, d, first)
	r := mustTune(t, o)
	proofs := d.of(opDouble)
	if len(proofs) != 1 {
		t.Fatalf("%d proofs in float64", len(proofs))
	}
	c := proofs[0].check
	if c.Trusted != nil || c.Problem.Size != SmallSize(2) || len(c.Passes) != 2 || c.Passes[0].Binary.Schedule.String() != first || c.Passes[1].Binary.Schedule.String() != rest || device.Steps(c.Passes) != 9 {
		t.Errorf("%+v", c)
	}
	last := r.Winner.Checks[len(r.Winner.Checks)-1]
	if len(r.Winner.Checks) != 3 || last.DType != stencil.Float64 || last.Schedule != "" || last.Steps != 9 || len(r.Warnings) > 0 {
		t.Errorf("the winner's checks %+v, warnings %q", r.Winner.Checks, r.Warnings)
	}
}

// Of a problem in float64, or in integers, there is none.
func TestWhatIsExactAlreadyIsNotProvedAgain(t *testing.T) {
	d := newFake(t)
	o := options(t, d, tile(64, 4, 2, 4))
	f := &field{session: New(o)}
	for _, dtype := range []stencil.DType{stencil.Float64, stencil.Int32, stencil.Uint8} {
		f.session.Problem.DType = dtype
		if f.double(spacetest.Schedules(t, tile(64, 4, 2, 4))[0]) != nil {
			t.Errorf("a proof of %s in float64", dtype)
		}
	}
}

// Where float64 has the winner's schedule not, the nearest below stands for it, and the check says so.
func TestTheNearestScheduleStandsForOneThatIsTooWide(t *testing.T) {
	d := newFake(t)
	first := tile(64, 8, 2, 1)
	d.seconds = at(map[string]float64{first: 80e-6})
	r := mustTune(t, options(t, d, first))
	if r.Winner.Schedule.String() != first || len(r.Winner.Checks) != 3 {
		t.Fatalf("winner %s, checks %+v", r.Winner.Schedule, r.Winner.Checks)
	}
	if near := r.Winner.Checks[2].Schedule; near != tile(32, 8, 2, 1) || near != d.of(opDouble)[0].schedule {
		t.Errorf("proved as %q", near)
	}
}

// One that is wrong in float64 alone does not win, and the next does.
func TestADesignThatIsWrongInFloat64DoesNotWin(t *testing.T) {
	for what, fault := range map[string]string{"wrong": "wrong", "guard": "out-of-bounds write", "lost": "no end within the deadline"} {
		d := newFake(t)
		first, second := tile(64, 4, 2, 4), tile(32, 4, 1, 4)
		d.seconds = at(map[string]float64{first: 80e-6, second: 81e-6})
		d.wrong = func(c device.Check) string {
			if c.Problem.DType == stencil.Float64 && c.Passes[0].Binary.Schedule.String() == first && what != "lost" {
				return what
			}
			return ""
		}
		d.fail = func(op, s string, _ int) error {
			if op == opDouble && s == first && what == "lost" {
				return device.Fail(timing.Timeout, "no end within the deadline")
			}
			return nil
		}
		r := mustTune(t, options(t, d, first, second))
		if r.Winner.Schedule.String() != second || !slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.Contains(w, first) && strings.Contains(w, "in float64, as "+first) && strings.Contains(w, fault)
		}) {
			t.Errorf("%s: winner %s, warnings %q", what, r.Winner.Schedule, r.Warnings)
		}
	}
}

// A design that cannot be compiled in float64, or of which nothing can be proved there, is said, and costs no winner.
func TestADesignThatCannotBeProvedInFloat64IsSaid(t *testing.T) {
	for _, rest := range []bool{false, true} {
		d := newFake(t)
		first := tile(64, 4, 2, 4)
		d.seconds = at(map[string]float64{first: 80e-6})
		d.fail = func(op, s string, _ int) error {
			if op == opCompileDouble && (s == first) != rest {
				return device.Fail(timing.CompileTimeout, "too much")
			}
			return nil
		}
		r := mustTune(t, options(t, d, first))
		if r.Winner.Schedule.String() != first || len(r.Winner.Checks) != 2 || !warned(r, "not proved in float64 too: "+map[bool]string{false: first, true: tile(64, 4, 2, 1)}[rest]+": too much") {
			t.Errorf("winner %s, warnings %q", r.Winner.Schedule, r.Warnings)
		}
	}
	d := newFake(t)
	first := tile(64, 4, 2, 4)
	d.seconds = at(map[string]float64{first: 80e-6})
	d.seen = func(c device.Check) (string, int64) {
		if c.Problem.DType == stencil.Float64 {
			return "", c.Problem.Size.Cells()
		}
		return "", 0
	}
	r := mustTune(t, options(t, d, first))
	if r.Winner.Schedule.String() != first || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not proved in float64 too") {
		t.Errorf("winner %s, warnings %q", r.Winner.Schedule, r.Warnings)
	}
}

// A compiler that takes long over it is not waited for.
func TestADesignInFloat64IsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFake(t)
		first := tile(64, 4, 2, 4)
		d.seconds = at(map[string]float64{first: 80e-6})
		d.fail = func(op, s string, _ int) error {
			if op == opCompileDouble && s == first {
				return errHang
			}
			return nil
		}
		begin := time.Now()
		r := mustTune(t, options(t, d, first))
		if took := time.Since(begin); r.Winner.Schedule.String() != first || len(r.Winner.Checks) != 2 || !warned(r, "not proved in float64 too: "+first+" takes the compiler long") || took > 2*doublePatience {
			t.Errorf("after %v winner %s, warnings %q", took, r.Winner.Schedule, r.Warnings)
		}
	})
}
