package search

import (
	"math/rand/v2"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/timing"
)

// descent steps to what is faster: it proposes the neighbours of the best schedule of the
// current run, moves when one is faster, and starts a new run elsewhere when none is.
// Walks start in turn from the prior's best and at random.
//
// Such local searches with restarts are among the strongest simple tuners in
// Schoonhoven, van Werkhoven and Batenburg, "Benchmarking optimization algorithms
// for auto-tuning GPU kernels" (IEEE Trans. Evol. Comput. 2022).
type descent struct {
	*pool
	rng     *rand.Rand
	ranked  line // starts by prior; empty without one
	chance  line // starts at random
	starts  int
	seconds map[int]float64 // of every timed point
	walk    int             // number of the current run
	walkOf  map[int]int     // run of every point proposed and not answered yet
	centre  int             // where the run stands, -1 before its start is known
	queue   []int           // neighbours of the centre yet to propose
	waiting int             // proposed for the run and not answered yet
	wide    bool            // whether the queue already holds the trades
}

func newDescent(p *pool, seed uint64) (Strategy, error) {
	r := Rand(seed, "descent")
	d := &descent{pool: p, rng: r, seconds: map[int]float64{}, walkOf: map[int]int{}}
	d.chance = line{pool: p, order: p.shuffled(r)}
	if p.hasPrior() {
		d.ranked = line{pool: p, order: p.byPrior()}
	}
	d.restart()
	return d, nil
}

func (d *descent) restart() {
	d.centre, d.queue, d.waiting, d.wide = -1, nil, 0, false
	d.walk++
}

// Name is the strategy's name.
func (d *descent) Name() string { return "descent" }

// Ask proposes neighbours, and starts of new runs when there are none.
func (d *descent) Ask(n int) []space.Schedule { return d.ask(n, d.next) }

func (d *descent) next() int {
	for {
		for len(d.queue) > 0 {
			q := d.queue[0]
			d.queue = d.queue[1:]
			if !d.taken[q] {
				return d.propose(q)
			}
		}
		if d.centre >= 0 && !d.wide {
			d.fill(d.trades(nil, d.centre))
			d.wide = true
			continue
		}
		// Nothing is left of this run, or its answers are still to come: a run
		// is given up only once all of them are known.
		if d.centre >= 0 && d.waiting == 0 {
			d.restart()
		}
		return d.propose(d.start())
	}
}

func (d *descent) start() int {
	d.starts++
	if d.starts%2 == 1 && len(d.ranked.order) > 0 {
		return d.ranked.next()
	}
	return d.chance.next()
}

func (d *descent) propose(q int) int {
	d.walkOf[q] = d.walk
	d.waiting++
	return q
}

func (d *descent) fill(points []int) {
	d.rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	d.queue = append(d.queue, points...)
}

// Tell moves the run to what is faster than where it stands.
func (d *descent) Tell(outcomes []outcome.Outcome) {
	d.told(outcomes, func(q int, o outcome.Outcome) {
		walk, asked := d.walkOf[q]
		if asked {
			delete(d.walkOf, q)
			if walk != d.walk {
				return
			}
			d.waiting--
		}
		if o.Status != timing.OK || !(o.Seconds() > 0) {
			return
		}
		d.seconds[q] = o.Seconds()
		if d.centre < 0 || o.Seconds() < d.seconds[d.centre] {
			d.centre, d.queue, d.wide = q, nil, false
			d.fill(d.steps(nil, q))
		}
	})
}
