package runner

import (
	"testing"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// A workload that the reference does not know is compared with its judge alone, on
// every grid, and the baseline is not spared.
func TestJudgeIsAskedOnEveryGrid(t *testing.T) {
	d := newFake(t)
	list := []string{tile(64, 4, 1, 4), global(32, 4, 2)}
	for _, s := range append(list, naives...) {
		d.trust[s] = true // the fake takes a check with trusted passes for one of the full size
	}
	o := options(t, d)
	judge := space.Make("judge", nil, nil)
	o.Judge = &Judge{
		Kernel: func(p stencil.Problem) kernels.Kernel {
			return kernels.Kernel{Schedule: judge, Launch: kernels.Launch{Grid: [3]int{p.Size[0], 1, 1}, Block: [3]int{32, 1, 1}, Steps: 1}}
		},
		Tolerance: func(p stencil.Problem) float64 { return float64(p.Size[0]) },
	}
	got, err := measure(t.Context(), t, o, list...)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range got {
		if out.Status != timing.OK || len(out.Checks) != 2 {
			t.Errorf("%s: %s after %d checks", out.Schedule, out.Status, len(out.Checks))
		}
	}
	checks := append(d.of(opSmall), d.of(opFull)...)
	if len(d.of(opSmall)) > 0 || len(checks) < 2*(len(list)+1) {
		t.Errorf("%d checks, %d of them without a judge", len(checks), len(d.of(opSmall)))
	}
	for _, e := range checks {
		c := e.check
		if c.Trusted[0].Binary.Schedule != judge || c.Trusted[0].Launch.Grid[0] != c.Problem.Size[0] || c.Allowed[0].Error != float64(c.Problem.Size[0]) {
			t.Errorf("%s is compared with %+v, %v allowed", e.schedule, c.Trusted[0], c.Allowed)
		}
	}
	if n := d.count(opCompile, judge.String()); n != 1 {
		t.Errorf("the judge was compiled %d times", n)
	}
}
