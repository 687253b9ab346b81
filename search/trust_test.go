package search

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"stenciltune/space"
)

// field is a space with launches, and a prior whose seconds are made of two parts: one falls with x, one
// rises with y and with the distance of the launch parameter from 4.
func field() (*space.Space, Prior, Parts) {
	values := make([]int, 14)
	for i := range values {
		values[i] = i + 1
	}
	sp := space.New(&space.Family{Name: "f", Params: []space.Param{
		{Name: "x", Values: values, Ordinal: true}, {Name: "y", Values: values, Ordinal: true},
		{Name: "n", Values: []int{1, 2, 3, 4, 6, 8}, Ordinal: true, Launch: true}}})
	parts := func(s space.Schedule) []float64 {
		return []float64{10 / float64(s.Int("x", 0)), float64(s.Int("x", 0)) / 5 * (1 + float64(s.Int("y", 0))/4 + math.Abs(float64(s.Int("n", 0)-4)))}
	}
	return sp, func(s space.Schedule) float64 { p := parts(s); return 1e-3 * joined(p) }, parts
}

// joined is the norm of parts.
func joined(parts []float64) float64 {
	sum := 0.0
	for _, v := range parts {
		sum += math.Pow(v, overlap)
	}
	return math.Pow(sum, 1/overlap)
}

// TestScalesAreFound: of a device that has one resource three times as slow, twenty measurements
// tell so, and which schedule is the best.
func TestScalesAreFound(t *testing.T) {
	sp, prior, parts := field()
	c := enumerate(sp, prior, parts)
	took := func(q int) float64 {
		p := parts(c.schedule(q))
		return math.Log(1e-3 * joined([]float64{p[0], 3 * p[1]}))
	}
	var points []int
	var logs []float64
	r := Rand(1, "test")
	for range 20 {
		q := r.IntN(c.size)
		points, logs = append(points, q), append(logs, took(q))
	}
	s := c.rescale(points, logs)
	if got := s.part[1] - s.part[0]; math.Abs(got-math.Log(3)) > 0.2 {
		t.Errorf("the second part is slower by e^%.2f beside the first, want 3 times", got)
	}
	expected := c.rescaled(s)
	first, best := 0, 0
	for q := range c.size {
		if expected[q] < expected[first] {
			first = q
		}
		if took(q) < took(best) {
			best = q
		}
	}
	if lost := took(first) - took(best); lost > 0.03 {
		t.Errorf("%s is expected to be the best, but %s is by %.3f", c.schedule(first), c.schedule(best), lost)
	}
	if given := int(c.byPrior()[0]); took(given)-took(best) < 0.1 {
		t.Errorf("%s, the prior's own first, is as good: the test shows nothing", c.schedule(given))
	}
}

// TestLaunches are those of the same source, all of them.
func TestLaunches(t *testing.T) {
	sp, prior, _ := field()
	c := enumerate(sp, prior, nil)
	for _, p := range []int{0, 17, c.size - 1} {
		got := c.launches(nil, p)
		for q := range c.size {
			if want := q != p && c.source(q) == c.source(p); slices.Contains(got, q) != want {
				t.Errorf("%s of %s: %v, want %v", c.schedule(q), c.schedule(p), !want, want)
			}
		}
	}
}

// TestNoEndBeforeWhatIsDue: a search that says that it has converged has tried the prior's first
// ranks and every launch of the best, and waits for their answers. With a prior that ranks
// backwards it goes on for longer, and knows that it is not foretold.
func TestNoEndBeforeWhatIsDue(t *testing.T) {
	sp, prior, _ := field()
	run := func(prior Prior, least int, foretold bool) int {
		truth := enumerate(sp, func(s space.Schedule) float64 { _, right, _ := field(); return right(s) }, nil)
		b := newBrain(newPool(enumerate(sp, prior, nil)), 1)
		s := &bayes{b.pool, b}
		told := map[int]bool{}
		var late []int // proposals of which the answer is not known yet
		for n := 0; s.Converged() < 15 || s.Waiting(); n++ {
			if n == sp.Size() {
				t.Fatal("it never converges")
			}
			q := b.next()
			b.take(q)
			if late = append(late, q); len(late) > 4 {
				told[late[0]] = true
				delete(b.pending, late[0])
				b.tell(late[0], math.Exp(truth.predicted(late[0])), 0, true)
				late = late[1:]
			}
		}
		for _, q := range b.launches(nil, b.timed[b.best].point) {
			if !told[q] {
				t.Errorf("%s was not tried, a launch of the best", b.schedule(q))
			}
		}
		for _, q := range b.byPrior()[:least] {
			if !told[int(q)] {
				t.Errorf("%s was not tried, of the prior's first", b.schedule(int(q)))
			}
		}
		if s.Foretells() != foretold {
			t.Errorf("foretold: %v, for errors of %.2f", s.Foretells(), b.off)
		}
		return len(told)
	}
	right := run(prior, firstRanks, true)
	wrong := run(func(s space.Schedule) float64 { return 1e-6 / prior(s) }, moreRanks, false)
	t.Logf("%d schedules with the right prior, %d with one that ranks backwards", right, wrong)
	if wrong < 2*right {
		t.Errorf("%d schedules with a prior that ranks backwards, %d with the right one", wrong, right)
	}
}

// A prior that ranks what was measured as it came out is trusted, unless it has no time for some of what is legal.
func TestAPriorWithoutATimeForSomeIsNotTrusted(t *testing.T) {
	sp, prior, _ := field()
	for _, c := range []struct {
		none    int // of every hundred schedules
		trusted bool
	}{{0, true}, {3, false}} {
		var n atomic.Int64 // it is asked side by side
		b := newBrain(newPool(enumerate(sp, func(s space.Schedule) float64 {
			if n.Add(1)%100 < int64(c.none) {
				return math.NaN()
			}
			return prior(s)
		}, nil)), 1)
		for range 40 {
			q := b.next()
			b.take(q)
			delete(b.pending, q)
			b.tell(q, prior(b.schedule(q)), 0, true)
		}
		if b.prepare(); (b.trust >= trusted) != c.trusted {
			t.Errorf("without a time for %d in a hundred: trust %.2f", c.none, b.trust)
		}
	}
}

// A hundredth is no more than a hundredth, of a thousand schedules too.
func TestAHundredthWithoutATimeIsNotMore(t *testing.T) {
	values := make([]int, 1000)
	for i := range values {
		values[i] = i + 1
	}
	sp := space.New(&space.Family{Name: "f", Params: []space.Param{{Name: "x", Values: values, Ordinal: true}}})
	b := newBrain(newPool(enumerate(sp, func(s space.Schedule) float64 {
		if s.Int("x", 0)%100 == 0 {
			return math.Inf(1)
		}
		return float64(s.Int("x", 0))
	}, nil)), 1)
	if b.unknown > mostUnknown {
		t.Errorf("%v of the schedules have no time, of which %v may be", b.unknown, mostUnknown)
	}
}
