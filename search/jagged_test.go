package search

import (
	"math"
	"testing"

	"stenciltune/space/spacetest"
)

// TestLeftOut compares what all other rows foretell of each with a posterior that lacks it.
func TestLeftOut(t *testing.T) {
	sp, prior := spacetest.Room()
	f := newFeatures(enumerate(sp, prior, nil))
	cov := newCovariance(f, modes(f))
	r := Rand(1, "test")
	value, extra := map[int]float64{}, map[int]float64{}
	for q := 0; q < 24; q += 2 {
		value[q], extra[q] = r.NormFloat64(), 0.1*r.Float64()
	}
	without := func(left int, cand ...int32) *posterior {
		g := newPosterior(cov, cand)
		for q := 0; q < 24; q += 2 {
			if q != left {
				g.add(q, value[q], true, extra[q])
			}
		}
		g.refresh()
		return g
	}
	all := without(-1)
	for i, e := range all.leftOut() {
		q := int(all.points[i])
		if want := value[q] - without(q, int32(q)).mean[0]; math.Abs(e-want) > 1e-9 {
			t.Errorf("row %d is off by %v, want %v", i, e, want)
		}
	}
}

// TestUnseen: only a search that is stuck and believes its prior takes its own errors for what no model sees, within bounds.
func TestUnseen(t *testing.T) {
	for _, c := range []struct {
		since       int
		trust, errs float64
		want        float64
	}{
		{stuck + 1, trusted, 0.07, 0.07},
		{stuck + 1, trusted, 0.01, smooth},
		{stuck + 1, trusted, 0.3, jagged},
		{stuck, trusted, 0.07, jagged},
		{stuck + 1, roughly - 0.01, 0.07, jagged},
	} {
		b := &brain{timed: make([]seen, c.since), trust: c.trust, errs: c.errs}
		if got := b.unseen(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
