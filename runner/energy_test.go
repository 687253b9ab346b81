package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/space/spacetest"
	"stenciltune/timing"
)

const opEnergy = "energy"

// board is a fake with a power model: what it draws, by schedule, and above a cap slower clocks,
// as a GPU has. A step's energy is watts times seconds.
type board struct {
	*fake
	watts   func(s string) float64 // at full clocks
	cap     float64                // watts; 0 = none
	jitter  float64                // of the counter, relative, uniform on both sides
	still   func(s string) bool    // the counter does not move
	lacking bool                   // there is none
}

func newBoard(t testing.TB, watts map[string]float64) *board {
	b := &board{fake: newFake(t), jitter: 0.002, watts: func(s string) float64 {
		if w, ok := watts[s]; ok {
			return w
		}
		return 650
	}}
	b.noise = 0.0005
	return b
}

func (b *board) Metered() bool { return !b.lacking }

func (b *board) Energy(ctx context.Context, e device.Energy) (timing.Draw, error) {
	b.begin(e.Run)
	defer b.end(e.Run)
	s := e.Run.Binary.Schedule.String()
	b.log(event{op: opEnergy, schedule: s})
	b.proved(s, true)
	if err := b.enter(ctx, opEnergy, s); err != nil {
		return timing.Draw{}, err
	}
	if b.still != nil && b.still(s) {
		return timing.Draw{}, nil
	}
	noise := rand.New(rand.NewPCG(b.seed, hash(s)+uint64(b.count(opEnergy, s))))
	d := timing.Draw{SecondsPerStep: b.seconds(s), Watts: b.watts(s), ClockHz: 1.9e9, Lowered: []string{}}
	if b.cap > 0 && d.Watts > b.cap { // the same work at lower clocks, for as long as that takes
		d.SecondsPerStep *= d.Watts / b.cap
		d.ClockHz *= b.cap / d.Watts
		d.Watts, d.Lowered = b.cap, []string{timing.PowerCap}
	}
	d.Watts *= 1 + b.jitter*(2*noise.Float64()-1)
	return d, nil
}

// The designs of these tests: the fastest draws most.
var (
	hot    = tile(64, 4, 2, 4) // 80 us at 700 W: 56 mJ
	lean   = tile(64, 8, 1, 2) // 84 us at 600 W: 50.4 mJ
	cool   = tile(32, 4, 1, 1) // 96 us at 500 W: 48 mJ
	times  = map[string]float64{hot: 80e-6, lean: 84e-6, cool: 96e-6}
	powers = map[string]float64{hot: 700, lean: 600, cool: 500}
)

func forObjective(t testing.TB, d *board, o timing.Objective, texts ...string) Options {
	d.seconds = at(times)
	opt := options(t, d.fake, texts...)
	opt.Device, opt.Objective = d, o
	return opt
}

func TestEachObjectiveHasItsWinner(t *testing.T) {
	want := map[timing.Objective]string{timing.ForTime: hot, timing.ForEnergy: cool, timing.ForEDP: lean}
	for _, o := range []timing.Objective{timing.ForEnergy, timing.ForEDP} {
		for seed := range uint64(5) {
			d := newBoard(t, powers)
			d.seed = seed
			r := mustTune(t, forObjective(t, d, o))
			if got := r.Winner.Schedule.String(); got != want[o] {
				t.Errorf("%s, seed %d: %s", o, seed, got)
			}
			for by, s := range want {
				if r.Best[by].String() != s {
					t.Errorf("%s, seed %d: the best by %s is %s", o, seed, by, r.Best[by])
				}
			}
			if r.Energies[0].Schedule != r.Winner.Schedule || len(r.Energies[0].Draws) != drawTurns {
				t.Errorf("the winner's energy: %+v", r.Energies[0])
			}
			naive := slices.IndexFunc(r.Energies, func(e Energy) bool { return e.Schedule == r.Naive.Schedule })
			if naive < 0 {
				t.Error("nothing is known of the naive kernel's energy")
			}
		}
	}
}

// TestByTimeTheWinnerAloneIsMeasured: half a second, once, after its proof.
func TestByTimeTheWinnerAloneIsMeasured(t *testing.T) {
	d := newBoard(t, powers)
	r := mustTune(t, forObjective(t, d, timing.ForTime))
	if got := d.of(opEnergy); len(got) != 1 || got[0].schedule != hot || r.Winner.Schedule.String() != hot {
		t.Errorf("measured: %+v; winner %s", got, r.Winner.Schedule)
	}
	if len(r.Energies) != 1 || math.Abs(r.Energies[0].Draws[0].Joules()/56e-3-1) > 0.003 || r.Best != nil || len(r.Warnings) > 0 {
		t.Errorf("%+v, best %v, warnings %q", r.Energies, r.Best, r.Warnings)
	}
}

// TestACapIsToldByTheStretch: in short samples the clocks are high.
func TestACapIsToldByTheStretch(t *testing.T) {
	d := newBoard(t, powers)
	d.cap = 640
	r := mustTune(t, forObjective(t, d, timing.ForTime))
	if !warned(r, "without a pause a step takes 9 % longer, 0.0875 ms (SM clock 1737 MHz, power cap)") {
		t.Errorf("%q", r.Warnings)
	}
	// By the product the cap decides as well: hot takes 87.5 us at 640 W.
	if r := mustTune(t, forObjective(t, d, timing.ForEDP)); r.Winner.Schedule.String() != lean || warned(r, "without a pause") {
		t.Errorf("%s, %q", r.Winner.Schedule, r.Warnings)
	}
}

func TestOfEqualEnergyTheSimplestWins(t *testing.T) {
	same := []string{tile(64, 4, 2, 1), tile(64, 4, 1, 2), global(64, 8, 2)}
	for seed := range uint64(5) {
		d := newBoard(t, map[string]float64{same[0]: 400, same[1]: 400.5, same[2]: 401})
		d.seed, d.jitter = seed, 0.01
		o := forObjective(t, d, timing.ForEnergy)
		d.seconds = at(map[string]float64{same[0]: 90e-6, same[1]: 90e-6, same[2]: 90e-6})
		r := mustTune(t, o)
		if r.Winner.Schedule.String() != same[2] || !slices.Equal(texts(r.Ties), same[:2]) {
			t.Errorf("seed %d: winner %s, ties %q", seed, r.Winner.Schedule, texts(r.Ties))
		}
		for _, e := range r.Energies {
			if s := timing.Drawn(e.Draws, timing.ForEnergy); s.Low > s.Median || s.Median > s.High || slices.Contains(same, e.Schedule.String()) && s.N != drawTurns {
				t.Errorf("%s: %+v", e.Schedule, s)
			}
		}
	}
}

// TestTheHopelessAreMeasuredTwice: what lies 5 % above the best by energy and by the product.
func TestTheHopelessAreMeasuredTwice(t *testing.T) {
	d := newBoard(t, map[string]float64{hot: 500, lean: 480, cool: 500})
	r := mustTune(t, forObjective(t, d, timing.ForEnergy, hot, lean, cool))
	for s, want := range map[string]int{hot: drawTurns, lean: drawTurns, cool: firstTurns, naives[0]: firstTurns} {
		if got := d.count(opEnergy, s); got != want {
			t.Errorf("%s is measured in %d turns", s, got)
		}
	}
	if r.Winner.Schedule.String() != hot {
		t.Errorf("%s", r.Winner.Schedule)
	}
}

func TestACounterThatStandsStill(t *testing.T) {
	d := newBoard(t, powers)
	d.still = func(string) bool { return true }
	r, err := tune(t.Context(), t, forObjective(t, d, timing.ForEnergy))
	if !errors.Is(err, ErrNoEnergy) || r.Complete {
		t.Errorf("%v, complete %v", err, r.Complete)
	}
	r = mustTune(t, forObjective(t, d, timing.ForTime))
	if len(r.Energies) != 0 || !warned(r, "did not move as it should") {
		t.Errorf("%+v %q", r.Energies, r.Warnings)
	}
	d.still = func(s string) bool { return s == cool } // of one alone: it is no candidate
	if r := mustTune(t, forObjective(t, d, timing.ForEnergy)); r.Winner.Schedule.String() != lean {
		t.Errorf("%s", r.Winner.Schedule)
	}
}

func TestWithoutACounterNothingIsKnown(t *testing.T) {
	d := newBoard(t, powers)
	d.lacking = true
	if r := mustTune(t, forObjective(t, d, timing.ForTime)); len(r.Energies) != 0 || len(r.Warnings) != 0 || len(d.of(opEnergy)) != 0 {
		t.Errorf("%+v %q", r.Energies, r.Warnings)
	}
	d = newBoard(t, powers)
	o := forObjective(t, d, timing.ForTime)
	o.Regime = timing.Cold // without a pause caches are warm
	if r := mustTune(t, o); len(r.Energies) != 0 || len(d.of(opEnergy)) != 0 {
		t.Errorf("%+v", r.Energies)
	}
}

func TestAFinalistThatFailsWhileMeasuredIsDropped(t *testing.T) {
	for _, turn := range []int{0, 1, 3} {
		d := newBoard(t, powers)
		d.fail = func(op, s string, n int) error {
			if op == opEnergy && s == cool && n == turn {
				return device.Fail(timing.Timeout, "because")
			}
			return nil
		}
		r := mustTune(t, forObjective(t, d, timing.ForEnergy))
		if r.Winner.Schedule.String() != lean || !warned(r, cool+" dropped") || find(t, r, cool).Status != timing.Timeout {
			t.Errorf("turn %d: %s %q", turn, r.Winner.Schedule, r.Warnings)
		}
	}
	d := newBoard(t, powers) // by time: the next one wins
	d.fail = func(op, s string, _ int) error {
		if op == opEnergy && s == hot {
			return device.Fail(timing.WrongAnswer, "because")
		}
		return nil
	}
	if r := mustTune(t, forObjective(t, d, timing.ForTime)); r.Winner.Schedule.String() != lean || len(r.Energies) != 1 {
		t.Errorf("%s %+v", r.Winner.Schedule, r.Energies)
	}
}

func TestAWrongWinnerByEnergyIsNotMeasuredAnew(t *testing.T) {
	d := newBoard(t, powers)
	d.wrong = func(c device.Check) string {
		if c.Passes[0].Binary.Schedule.String() == cool && d.count(opEnergy, cool) > 0 {
			return "wrong"
		}
		return ""
	}
	r := mustTune(t, forObjective(t, d, timing.ForEnergy))
	if r.Winner.Schedule.String() != lean || d.count(opEnergy, lean) != drawTurns {
		t.Errorf("%s, measured in %d turns", r.Winner.Schedule, d.count(opEnergy, lean))
	}
}

func TestInterruptedWhileMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newBoard(t, powers)
	d.delay = func(op, _ string) {
		if op == opEnergy {
			cancel()
		}
	}
	r, err := tune(ctx, t, forObjective(t, d, timing.ForEnergy))
	if err != nil || r.Stop != search.Interrupted || r.Complete || r.Winner.Schedule.String() != hot {
		t.Errorf("%v %s %v %s", err, r.Stop, r.Complete, r.Winner.Schedule)
	}
}

func TestFinalistsAreSpread(t *testing.T) {
	var sorted []outcome.Outcome
	add := func(texts ...string) {
		for _, s := range spacetest.Schedules(t, texts...) {
			sorted = append(sorted, outcome.At(s, float64(len(sorted)+1), 0))
		}
	}
	for i := range 20 {
		add(fmt.Sprintf("stream/vx=2/wp=%d/ph=4", i+1))
	}
	others := []string{"stream/vx=4/wp=1/ph=4", "stream/vx=2/wp=1/ph=3", "tile/gx=32/wx=1/ph=2", "tile/gx=64/wx=1/ph=2", "tile/gx=64/wx=2/ph=2"}
	add(others...)
	got := texts(spread(sorted))
	if len(got) != maxFinalists || !slices.Equal(got[:5], texts(sorted[:5])) || !slices.Equal(got[5:9], slices.Delete(slices.Clone(others), 3, 4)) || !slices.Equal(got[9:], texts(sorted[5:8])) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if n := len(spread(sorted[:3])); n != 3 {
		t.Errorf("%d of three", n)
	}
}
