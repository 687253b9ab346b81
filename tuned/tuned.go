package tuned

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"stenciltune/cache"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// Problem is what a program computes, in its own terms.
type Problem struct {
	Stencil string // name in the catalogue; a program with a stencil of its own uses Find
	DType   string // like "float64"; "" = the stencil's own
	Size    []int  // cells on x, y, z, as many as the stencil has dimensions
	Steps   int    // time steps of a run; 0 = 1000
	Regime  string // "warm" or "cold"; "" = warm
}

// ErrNotTuned is in the chain of the error of a problem for which nothing of use is
// stored: tune it, or use tune measure's naive schedule.
var ErrNotTuned = errors.New("nothing is tuned for this")

// Finder answers from one store.
type Finder struct{ store *cache.Store }

// Open opens a store's file; "" is the user's own (see cache.DefaultPath). A file that
// does not exist yet is an empty store.
func Open(path string) (*Finder, error) {
	if path == "" {
		var err error
		if path, err = cache.DefaultPath(); err != nil {
			return nil, err
		}
	}
	s, err := cache.Open(path)
	if err != nil {
		return nil, err
	}
	return &Finder{s}, nil
}

// Best answers from the user's own store: see Finder.Best.
func Best(ctx context.Context, p Problem, device string) (Answer, error) {
	f, err := Open("")
	if err != nil {
		return Answer{}, err
	}
	return f.Best(ctx, p, device)
}

// Best is the best config stored for a problem on a device, named as the driver names
// it ("NVIDIA H200"). The answer's grade tells how well it fits. A problem that does
// not exist, or nothing of use in the store (ErrNotTuned), is an error.
func (f *Finder) Best(ctx context.Context, p Problem, device string) (Answer, error) {
	q, err := p.question()
	if err != nil {
		return Answer{}, err
	}
	if q.Machine, err = Device(f.store, device); err != nil {
		return Answer{}, err
	}
	return f.find(ctx, q)
}

// BestOn is Best on a device of which the facts are known, stored or not: the cost
// model ranks with them what was measured elsewhere.
func (f *Finder) BestOn(ctx context.Context, p Problem, m machine.Machine) (Answer, error) {
	q, err := p.question()
	if err != nil {
		return Answer{}, err
	}
	q.Machine = m
	return f.find(ctx, q)
}

func (f *Finder) find(ctx context.Context, q Question) (Answer, error) {
	a, err := Find(ctx, f.store, q)
	if err == nil && a.Grade == cache.None {
		err = fmt.Errorf("%w: %s on %s", ErrNotTuned, q.Problem.Text(), q.Machine.Name)
	}
	return a, err
}

// question checks a problem and looks up its stencil.
func (p Problem) question() (Question, error) {
	st, err := stencil.Lookup(p.Stencil)
	if err != nil {
		return Question{}, err
	}
	q := Question{
		Problem: stencil.Problem{Stencil: st, DType: stencil.DType(cmp.Or(p.DType, string(st.DType))), Size: stencil.Size{1, 1, 1}, Steps: cmp.Or(p.Steps, 1000)},
		Regime:  timing.Regime(cmp.Or(p.Regime, string(timing.Warm))),
	}
	switch {
	case !slices.Contains(st.DTypes(), q.Problem.DType):
		return q, fmt.Errorf("element type %.20q: %s is computed in %v", p.DType, st.Name, st.DTypes())
	case q.Problem.Steps < 1:
		return q, fmt.Errorf("%d time steps: want 1 or more", p.Steps)
	case q.Regime != timing.Warm && q.Regime != timing.Cold:
		return q, fmt.Errorf("regime %.20q: use warm or cold", p.Regime)
	case len(p.Size) != st.Dims:
		return q, fmt.Errorf("size %v: %s has %d dimensions", p.Size, st.Name, st.Dims)
	}
	copy(q.Problem.Size[:], p.Size)
	_, err = stencil.ParseSize(q.Problem.Size.Text(st.Dims), st.Dims)
	return q, err
}
