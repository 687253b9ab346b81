package timing

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

// run feeds elapsed times to a sampler until it is content; it says how many it took.
func run(t *testing.T, s *Sampler, elapsed func(i int) float64) int {
	t.Helper()
	for i := 0; ; i++ {
		if !s.More() {
			return i
		}
		if i > 10000 {
			t.Fatal("the sampler is never content")
		}
		s.Add(elapsed(i), false)
	}
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

// noisy alternates far around v, so that the interval never becomes narrow.
func noisy(v float64) func(int) float64 { return func(i int) float64 { return v * (1 + float64(i%2)) } }

func TestEachRuleStopsSampling(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Policy)
		elapsed func(int) float64
		want    int
		cut     bool
	}{
		{"quiet: the fewest samples", nil, constant(1e-3), 5, false},
		{"the fewest samples, whatever they are", func(p *Policy) { p.MinSamples = 12 }, constant(1e-3), 12, false},
		{"noisy: the most samples", nil, noisy(1e-3), 50, false},
		{"noisy, but that is narrow enough", func(p *Policy) { p.HalfWidth = 0.6 }, noisy(1e-3), 5, false},
		{"settles: as soon as the interval is narrow", nil, func(i int) float64 {
			if i == 1 {
				return 2e-3
			}
			return 1e-3
		}, 9, false}, // with nine, one outlier lies outside the interval
		{"time is up, after three at least", func(p *Policy) { p.TimeLimit = 0.0005 }, noisy(1e-3), 3, false},
		{"time is up in the middle", func(p *Policy) { p.TimeLimit = 0.0155 }, noisy(1e-3), 11, false}, // 11 samples span 16 ms
		{"cannot win: two samples", func(p *Policy) { p.CutAbove = 0.9e-4 }, constant(1e-3), 2, true},
		{"cannot win, but two samples disagree: three", func(p *Policy) { p.CutAbove = 0.9e-4 }, noisy(1e-3), 3, true},
		{"twice as slow as what cannot win: one sample", func(p *Policy) { p.CutAbove = 0.49e-4 }, constant(1e-3), 1, true},
		{"cannot win: one sample where one is enough", func(p *Policy) { p.CutAbove, p.MinSamples = 0.9e-4, 1 }, constant(1e-3), 1, true},
		{"exactly at the cut may yet win", func(p *Policy) { p.CutAbove = 1e-4 }, constant(1e-3), 5, false},
		{"the fastest sample decides on the cut", func(p *Policy) { p.CutAbove = 1.5e-4 }, noisy(1e-3), 50, false},
		{"one sample at most", func(p *Policy) { p.MinSamples, p.MaxSamples = 1, 1 }, noisy(1e-3), 1, false},
	} {
		p := Search()
		if c.change != nil {
			c.change(&p)
		}
		s := NewSampler(p, 5, 10)
		if got := run(t, s, c.elapsed); got != c.want {
			t.Errorf("%s: %d samples, want %d", c.name, got, c.want)
		}
		r := s.Series()
		if r.CutSlow != c.cut || r.N != c.want || len(r.Samples) != c.want || r.Launches != 5 || r.Steps != 10 {
			t.Errorf("%s: %+v", c.name, r)
		}
		if s.More() {
			t.Errorf("%s: wants more after all", c.name)
		}
	}
}

// TestADisturbedFirstSampleCutsNothing: a schedule is given up after one sample only if the
// launch before it was as slow.
func TestADisturbedFirstSampleCutsNothing(t *testing.T) {
	disturbed := func(i int) float64 {
		if i == 0 {
			return 1e-2
		}
		return 1e-3
	}
	for _, c := range []struct {
		launch float64 // of 2 steps
		cut    bool
		want   int
	}{{2e-4, false, 9}, {2e-3, true, 1}, {0, true, 1}} {
		p := Search()
		p.CutAbove = 1.3e-4
		s := NewSampler(p, 5, 10)
		s.Warmed(c.launch)
		if got := run(t, s, disturbed); got != c.want || s.Series().CutSlow != c.cut {
			t.Errorf("after a launch of %g s: %d samples, %+v", c.launch, got, s.Series())
		}
	}
}

// How narrow an interval must be decides what two times can be told apart: a search's half a
// per cent, the finals' a fifth of one.
func TestSamplesEndWhereTheIntervalIsNarrow(t *testing.T) {
	spread := func(share float64) func(int) float64 { // half of it around the median
		return func(i int) float64 { return 1e-3 * (1 + 2*share*float64(i%2)) }
	}
	for _, c := range []struct {
		policy Policy
		share  float64
		want   int
	}{{Search(), 0.004, 5}, {Search(), 0.006, 50}, {Finals(), 0.0018, 30}, {Finals(), 0.0022, 50}} {
		if got := run(t, NewSampler(c.policy, 1, 1), spread(c.share)); got != c.want {
			t.Errorf("%+v with half widths of %g: %d samples, want %d", c.policy, c.share, got, c.want)
		}
	}
}

func TestFinalsTakeThirtySamplesAtLeast(t *testing.T) {
	if n := run(t, NewSampler(Finals(), 1, 1), constant(1e-3)); n != 30 {
		t.Errorf("%d samples", n)
	}
}

func TestSamplesAreSecondsPerStep(t *testing.T) {
	s := NewSampler(Search(), 2, 8)
	s.Add(0.004, false)
	s.Add(0.008, false)
	r := s.Series()
	if !reflect.DeepEqual(r.Samples, []float64{0.0005, 0.001}) || r.Median != 0.00075 || r.Min != 0.0005 {
		t.Errorf("%+v", r)
	}
}

func TestInvalidSamplesAreDiscardedAndCounted(t *testing.T) {
	s := NewSampler(Search(), 1, 1)
	for _, bad := range []float64{0, -1e-3, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)} {
		s.Add(bad, false)
	}
	s.Add(1e-3, true) // throttled
	if r := s.Series(); r.Discarded != 7 || r.N != 0 || r.Samples != nil || !reflect.DeepEqual(r.Warnings, []string{"no accepted samples (7 discarded)"}) {
		t.Errorf("%+v", r)
	}
	if !s.More() {
		t.Error("gives up too early")
	}
	s.Add(1e-3, false)
	r := s.Series()
	if r.N != 1 || r.Discarded != 7 || !reflect.DeepEqual(r.Warnings, []string{"only 1 samples", "7 throttled or invalid samples discarded"}) {
		t.Errorf("%+v", r)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestAPermanentlyThrottledDeviceEndsTheSeries(t *testing.T) {
	p := Search()
	s := NewSampler(p, 1, 1)
	n := 0
	for s.More() {
		s.Add(1e-3, true)
		if n++; n > 1000 {
			t.Fatal("endless")
		}
	}
	if n != p.MaxSamples+1 || s.Series().N != 0 {
		t.Errorf("%d samples thrown away", n)
	}
}

func TestThrottledTimeIsNotCharged(t *testing.T) {
	p := Search()
	p.TimeLimit = 5e-3
	s := NewSampler(p, 1, 1)
	for range 20 {
		s.Add(1, true)
	}
	if n := run(t, s, noisy(1e-3)); n != 4 { // 1 + 2 + 1 + 2 ms
		t.Errorf("%d samples", n)
	}
}

func TestWarningsTravelWithTheNumber(t *testing.T) {
	has := func(r Series, text string) bool { return strings.Contains(strings.Join(r.Warnings, "\n"), text) }

	s := NewSampler(Search(), 1, 1)
	run(t, s, constant(1e-3))
	if r := s.Series(); r.Warnings != nil {
		t.Errorf("a quiet series: %v", r.Warnings)
	}
	s = NewSampler(Search(), 1, 1)
	run(t, s, noisy(1e-3))
	if r := s.Series(); !has(r, "wide interval: +-33.3 %") || len(r.Warnings) != 1 {
		t.Errorf("a noisy series: %v", r.Warnings)
	}
	s = NewSampler(Search(), 1, 1)
	run(t, s, constant(4e-6))
	if r := s.Series(); !has(r, "timer too coarse: a sample spans only 4 us") || len(r.Warnings) != 1 {
		t.Errorf("a short series: %v", r.Warnings)
	}
	p := Search()
	p.CutAbove = 1e-6
	s = NewSampler(p, 1, 1)
	run(t, s, noisy(1e-3))
	if r := s.Series(); r.Warnings != nil {
		t.Errorf("a cut series need not be precise: %v", r.Warnings)
	}
	first, second := s.Series(), s.Series()
	if !reflect.DeepEqual(first, second) {
		t.Error("asking twice adds warnings")
	}
}

func TestLaunchesFillTheRegionInPairs(t *testing.T) {
	warm := Search() // a region of 200 us
	cold := warm
	cold.Regime = Cold
	for _, c := range []struct {
		policy Policy
		launch float64
		want   int
	}{
		{warm, 200e-6, 2},
		{warm, 201e-6, 2},
		{warm, 100e-6, 2},
		{warm, 99e-6, 4}, // three, made even
		{warm, 50e-6, 4},
		{warm, 49e-6, 6},
		{warm, 1.001e-6, 200},
		{warm, 1.9e-3, 2},
		{warm, 2e-3, 1}, // ten times the region
		{warm, 10, 1},
		{warm, math.Inf(1), 1},
		{warm, 1e-9, 1000},
		{warm, 1e-30, 1000},
		{warm, 5e-324, 1000},
		{warm, 0, 2},
		{warm, -1, 2},
		{warm, math.NaN(), 2},
		{cold, 1e-6, 1},
		{cold, 1, 1},
	} {
		if got := c.policy.LaunchesFor(c.launch); got != c.want {
			t.Errorf("%s, a launch of %g s: %d launches, want %d", c.policy.Regime, c.launch, got, c.want)
		}
	}
}
