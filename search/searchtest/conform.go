package searchtest

import (
	"math"
	"slices"
	"testing"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

// Maker makes the strategy under test.
type Maker func(search.Options) (search.Strategy, error)

// Conform proves that a strategy keeps the contract of search.Strategy: on
// ordinary and on degenerate spaces, with priors that are useful, absent or not
// numbers, whatever it is told and in whatever order.
func Conform(t *testing.T, name string, maker Maker) {
	t.Helper()
	c := contract{name: name, maker: maker}
	c.space, c.measure = small()
	for _, clause := range []struct {
		name string
		test func(*testing.T)
	}{
		{"every schedule once", c.everyScheduleOnce},
		{"none asked", c.noneAsked},
		{"never answered", c.neverAnswered},
		{"told before asked", c.toldBeforeAsked},
		{"told what is not in the space", c.toldWhatIsNotInTheSpace},
		{"told strange times", c.toldStrangeTimes},
		{"nothing but failures", c.nothingButFailures},
		{"same seed", c.sameSeed},
		{"strange priors", c.strangePriors},
		{"tiny spaces", c.tinySpaces},
	} {
		t.Run(clause.name, clause.test)
	}
}

// contract is a strategy under test, on a small space.
type contract struct {
	name    string
	maker   Maker
	space   *space.Space
	measure func(space.Schedule) outcome.Outcome
}

// fresh makes the strategy.
func (c contract) fresh(t *testing.T, o search.Options) search.Strategy {
	t.Helper()
	s, err := c.maker(o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != c.name {
		t.Errorf("Name() = %q, want %q", s.Name(), c.name)
	}
	return s
}

// ramp is a prior of some use.
func ramp(s space.Schedule) float64 { return 1e-3 * float64(1+s.Int("b", 0)+s.Int("a", 0)) }

func (c contract) everyScheduleOnce(t *testing.T) {
	for _, batch := range []int{1, 3, 7, 1000} {
		s := c.fresh(t, search.Options{Space: c.space, Prior: ramp, Seed: 1})
		seen := map[space.Schedule]bool{}
		for {
			asked := s.Ask(batch)
			if len(asked) == 0 {
				break
			}
			if len(asked) > batch {
				t.Fatalf("Ask(%d) gave %d", batch, len(asked))
			}
			told := make([]outcome.Outcome, len(asked))
			for i, a := range asked {
				if err := c.space.Check(a); err != nil {
					t.Fatalf("illegal: %v", err)
				}
				if seen[a] {
					t.Fatalf("%s proposed twice", a)
				}
				seen[a] = true
				told[i] = c.measure(a)
			}
			s.Tell(told)
		}
		if len(seen) != c.space.Size() {
			t.Errorf("batch %d: %d of %d schedules proposed before it had no more", batch, len(seen), c.space.Size())
		}
		if more := s.Ask(5); more != nil {
			t.Errorf("exhausted, and then proposed %v", more)
		}
	}
}

func (c contract) noneAsked(t *testing.T) {
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp})
	if got := s.Ask(0); len(got) != 0 {
		t.Errorf("Ask(0) = %v", got)
	}
	if got := s.Ask(-1); len(got) != 0 {
		t.Errorf("Ask(-1) = %v", got)
	}
	if got := s.Ask(1); len(got) != 1 {
		t.Errorf("Ask(1) after Ask(0) = %v", got)
	}
}

func (c contract) neverAnswered(t *testing.T) {
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp})
	seen := map[space.Schedule]bool{}
	for range c.space.Size() {
		for _, a := range s.Ask(1) {
			seen[a] = true
		}
	}
	if len(seen) != c.space.Size() {
		t.Errorf("%d of %d proposed without an answer", len(seen), c.space.Size())
	}
}

func (c contract) toldBeforeAsked(t *testing.T) {
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp, Seed: 3})
	known := map[space.Schedule]bool{}
	var told []outcome.Outcome
	i := 0
	for sc := range c.space.All() {
		if i++; i%3 == 0 {
			known[sc] = true
			told = append(told, c.measure(sc))
		}
	}
	s.Tell(told)
	s.Tell(told[:5]) // once more
	n := 0
	for {
		asked := s.Ask(4)
		if len(asked) == 0 {
			break
		}
		var back []outcome.Outcome
		for _, a := range asked {
			n++
			if known[a] {
				t.Fatalf("%s was told of before", a)
			}
			back = append(back, c.measure(a))
		}
		slices.Reverse(back)
		s.Tell(back)
	}
	if n != c.space.Size()-len(known) {
		t.Errorf("%d proposed, %d were left", n, c.space.Size()-len(known))
	}
}

func (c contract) toldWhatIsNotInTheSpace(t *testing.T) {
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp})
	var told []outcome.Outcome
	for _, sc := range spacetest.Schedules(t, "one/a=3/b=1", "one/a=1", "other/a=1/b=1", "one/b=1/a=1", "one/a=1/b=1/c=1/d=4") {
		told = append(told, outcome.At(sc, 1e-9, 0))
	}
	s.Tell(append(told, outcome.Outcome{}))
	s.Tell(nil)
	if got := s.Ask(2); len(got) != 2 {
		t.Errorf("Ask(2) = %v", got)
	}
}

func (c contract) toldStrangeTimes(t *testing.T) {
	took := func(status timing.Status, seconds, noise float64) outcome.Outcome {
		o := outcome.At(space.Schedule{}, seconds, noise)
		o.Status = status
		return o
	}
	strange := []outcome.Outcome{
		took(timing.OK, math.NaN(), 0), took(timing.OK, math.Inf(1), 0), took(timing.OK, 0, 0), took(timing.OK, -1, 0), took(timing.OK, 1e-300, 0), took(timing.OK, 1e300, 0),
		took(timing.OK, 1e-3, math.NaN()), took(timing.OK, 1e-3, math.Inf(1)), took(timing.CutSlow, 5e-3, 0), took(timing.WrongAnswer, 1e-9, 0), took("", 1, 0),
		{Status: timing.CutSlow}, {Status: timing.Skipped}, {Status: timing.Rejected}, {Status: timing.WorkerLost}, {Status: "unheard of"},
	}
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp})
	for i := 0; ; i++ {
		asked := s.Ask(1)
		if len(asked) == 0 {
			if i != c.space.Size() {
				t.Errorf("stopped after %d of %d", i, c.space.Size())
			}
			break
		}
		o := strange[i%len(strange)]
		o.Schedule = asked[0]
		s.Tell([]outcome.Outcome{o})
	}
}

func (c contract) nothingButFailures(t *testing.T) {
	s := c.fresh(t, search.Options{Space: c.space, Prior: ramp})
	n := 0
	for {
		asked := s.Ask(5)
		if len(asked) == 0 {
			break
		}
		for _, a := range asked {
			n++
			s.Tell([]outcome.Outcome{{Schedule: a, Status: timing.CompileError}})
		}
	}
	if n != c.space.Size() {
		t.Errorf("stopped after %d of %d", n, c.space.Size())
	}
}

func (c contract) sameSeed(t *testing.T) {
	run := func(seed uint64) []space.Schedule {
		s := c.fresh(t, search.Options{Space: c.space, Prior: ramp, Seed: seed})
		var order []space.Schedule
		for len(order) < 60 {
			asked := s.Ask(3)
			var told []outcome.Outcome
			for _, a := range asked {
				told = append(told, c.measure(a))
			}
			s.Tell(told)
			order = append(order, asked...)
		}
		return order
	}
	if a, b := run(7), run(7); !slices.Equal(a, b) {
		t.Errorf("the same seed proposed\n%v\nand then\n%v", a, b)
	}
}

func (c contract) strangePriors(t *testing.T) {
	for what, p := range map[string]search.Prior{
		"none": nil, "nan": func(space.Schedule) float64 { return math.NaN() },
		"infinite": func(space.Schedule) float64 { return math.Inf(1) },
		"constant": func(space.Schedule) float64 { return 1 },
		"negative": func(space.Schedule) float64 { return -1 },
		"partly": func(s space.Schedule) float64 {
			if s.Int("a", 0) > 2 {
				return math.NaN()
			}
			return ramp(s)
		},
		"huge": func(s space.Schedule) float64 { return math.Exp(200 * float64(s.Int("b", 0)-3)) },
	} {
		s, err := c.maker(search.Options{Space: c.space, Prior: p})
		if err != nil {
			if p == nil {
				continue // a strategy may need a prior
			}
			t.Fatal(err)
		}
		if r := Run(s, &Landscape{Space: c.space, True: func(s space.Schedule) (float64, timing.Status) {
			o := c.measure(s)
			return o.Seconds(), o.Status
		}}, c.space.Size(), 4); len(r.Order) != c.space.Size() {
			t.Errorf("prior %s: %d of %d proposed", what, len(r.Order), c.space.Size())
		}
	}
}

func (c contract) tinySpaces(t *testing.T) {
	never := space.Constraint{Name: "never", Needs: []string{"a"}, Why: "nothing is legal", OK: func(space.Values) bool { return false }}
	one := func(values ...int) []space.Param { return []space.Param{{Name: "a", Values: values, Ordinal: true}} }
	for want, sp := range map[int]*space.Space{
		0: space.New(&space.Family{Name: "none", Params: one(1, 2), Constraints: []space.Constraint{never}}),
		1: space.New(&space.Family{Name: "single", Params: one(4)}),
		2: space.New(&space.Family{Name: "empty", Params: one(1), Constraints: []space.Constraint{never}},
			&space.Family{Name: "pair", Params: one(1, 9)}),
		3: space.New(&space.Family{Name: "bare"}, &space.Family{Name: "pair", Params: one(1, 9)}),
	} {
		s := c.fresh(t, search.Options{Space: sp, Prior: ramp})
		n := 0
		for {
			asked := s.Ask(1)
			if len(asked) == 0 {
				break
			}
			n++
			s.Tell([]outcome.Outcome{outcome.At(asked[0], 1e-3, 0)})
		}
		if n != want {
			t.Errorf("space of %d: %d proposed", want, n)
		}
	}
	s := c.fresh(t, search.Options{Space: space.New(), Prior: ramp})
	if got := s.Ask(1); got != nil {
		t.Errorf("empty space: proposed %v", got)
	}
}

// small is a space of about a hundred schedules in two families, and what each is measured at.
func small() (*space.Space, func(space.Schedule) outcome.Outcome) {
	one := &space.Family{Name: "one", Params: []space.Param{
		{Name: "a", Values: []int{1, 2, 4, 8}, Ordinal: true},
		{Name: "b", Values: []int{0, 1, 2, 3, 4, 5}, Ordinal: true},
		{Name: "c", Values: []int{0, 1}},
	}, Constraints: []space.Constraint{{Name: "sum", Needs: []string{"a", "b"}, Why: "a and b differ",
		OK: func(v space.Values) bool { return v.Get("a") != v.Get("b") }}}}
	two := &space.Family{Name: "two", Params: []space.Param{
		{Name: "b", Values: []int{1, 2, 3}, Ordinal: true},
		{Name: "d", Values: []int{1, 2, 3, 4, 5, 6, 7}, Ordinal: true},
		{Name: "e", Values: []int{0, 1, 2}},
	}}
	return space.New(one, two), func(s space.Schedule) outcome.Outcome {
		if uniform(s.String(), 0, "fails") < 0.1 {
			return outcome.Outcome{Schedule: s, Status: timing.LaunchError}
		}
		t := 1e-3 * (1 + uniform(s.String(), 0, "t") + 0.1*float64(s.Int("b", 0)))
		return outcome.At(s, t, 0.01)
	}
}
