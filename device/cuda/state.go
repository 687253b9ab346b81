package cuda

import (
	"context"
	"math"
	"slices"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// state is a run in progress: where each field is now, where it goes next, and the
// number of the next time step.
type state struct {
	problem   stencil.Problem
	now, next []grid
	readOnly  []grid
	lengths   []int64
	scalars   []float64
	step      grid                 // step scalars and what their blocks leave
	before    []kernels.StepLaunch // of each time step, of any kernel; none without step scalars
	given     []kernels.Argument   // to them
	left      bool                 // the last launch has left what the first of them would
	arguments map[launchKey][]kernels.Argument
	iteration int
}

// launchKey is what the parameters of a kernel follow from.
type launchKey struct {
	st           *stencil.Stencil
	stage, steps int
}

// start fills the arrays of a problem with the start data, and their guard zones anew,
// whatever ran before. On the GPU's thread.
func (g *GPU) start(p stencil.Problem, a *arrays, seed uint32) (*state, error) {
	s := &state{problem: p, readOnly: a.readOnly, lengths: p.Lengths(), scalars: p.ScalarValues(), iteration: 1, arguments: map[launchKey][]kernels.Argument{}}
	for _, gr := range a.grids() {
		if err := gr.guard(); err != nil {
			return nil, err
		}
	}
	base, array := int64(0), 0
	fill := func(to grid) error {
		stored, c := p.Stored(array), p.InputScale(array)
		h, err := g.helperFor(stored)
		if err != nil {
			return err
		}
		n := to.size / int64(stored.Size())
		args := g.args.set(uint64(to.cells), uint64(n), uint64(base), uint64(seed), math.Float64bits(c.Low), math.Float64bits(c.Step), math.Float64bits(c.Quantum))
		base, array = base+n, array+1
		return cuLaunchKernel(h.fill, helperGrid, helperBlock, 0, args)
	}
	for _, f := range a.fields {
		if err := fill(f.a); err != nil {
			return nil, err
		}
		s.now, s.next = append(s.now, f.a), append(s.next, f.b)
	}
	for _, r := range a.readOnly {
		if err := fill(r); err != nil {
			return nil, err
		}
	}
	if len(p.Stencil.StepScalars) > 0 {
		s.step, s.before, s.given = a.step, kernels.StepLaunches(p, ""), kernels.StepArguments(p.Stencil)
		return s, s.step.poison()
	}
	return s, nil
}

// launch runs a pass's kernels once: the step scalars' and every stage, from the fields as they are now.
// With poison the targets are made NaN first. On the GPU's thread.
func (g *GPU) launch(m *module, l kernels.Launch, s *state, poison bool) error {
	for i, b := range s.before {
		if i == len(m.before) {
			f, err := cuModuleGetFunction(m.handle, m.facts.Entry+b.Entry)
			if err != nil {
				return err
			}
			m.before = append(m.before, f)
		}
		if i == 0 && s.left {
			continue
		}
		if err := cuLaunchKernel(m.before[i], b.Launch.Grid, b.Launch.Block, 0, s.fillIn(g.args, s.given, nil)); err != nil {
			return err
		}
	}
	st := s.problem.Stencil.Launched(len(m.stages))
	for i, f := range m.stages {
		stage := &st.Stages[i]
		writes := stage.Writes(l.Steps)
		if poison {
			for _, w := range writes {
				if err := s.next[w].poison(); err != nil {
					return err
				}
			}
		}
		if err := cuLaunchKernel(f, l.Grid, l.Block, l.SharedBytes, s.set(g.args, launchKey{st, i, l.Steps}, writes)); err != nil {
			return err
		}
		s.exchange(stage, l.Steps, writes)
	}
	s.iteration += l.Steps
	s.left = l.Leaves()
	return nil
}

// exchange puts the fields that a stage has written in place. Copies of one step take
// over the array they copy, and what is free then is written next.
func (s *state) exchange(stage *stencil.Stage, steps int, writes []int) {
	if steps > 1 || len(stage.Copies) == 0 {
		for _, w := range writes {
			s.now[w], s.next[w] = s.next[w], s.now[w]
		}
		return
	}
	before := slices.Clone(s.now)
	for _, w := range writes {
		s.now[w] = s.next[w]
	}
	for _, c := range stage.Copies {
		s.now[c.Field] = before[c.From]
	}
	free := slices.DeleteFunc(before, func(b grid) bool {
		return slices.ContainsFunc(s.now, func(n grid) bool { return n.cells == b.cells })
	})
	for i, w := range writes {
		s.next[w] = free[i]
	}
}

// set fills in the parameters of a stage's kernel.
func (s *state) set(a *arguments, key launchKey, writes []int) *arguments {
	st := key.st
	list, ok := s.arguments[key]
	if !ok {
		list = kernels.Arguments(st, key.stage, key.steps)
		s.arguments[key] = list
	}
	return s.fillIn(a, list, writes)
}

// fillIn gives the parameters' values; writes are the fields that the outputs are.
func (s *state) fillIn(a *arguments, list []kernels.Argument, writes []int) *arguments {
	for i, arg := range list {
		var v uint64
		switch arg.Kind {
		case kernels.In:
			v = uint64(s.now[arg.Index].cells)
		case kernels.Out:
			v = uint64(s.next[writes[arg.Index]].cells)
		case kernels.ReadOnly:
			v = uint64(s.readOnly[arg.Index].cells)
		case kernels.Length:
			v = uint64(s.lengths[arg.Index])
		case kernels.Extent:
			v = uint64(uint32(s.problem.Size[arg.Index]))
		case kernels.Iteration:
			v = uint64(uint32(s.iteration))
		case kernels.Scalar:
			if n := s.scalars[arg.Index]; s.problem.Stencil.Scalars[arg.Index].Type.Floating() {
				v = math.Float64bits(n)
			} else {
				v = uint64(int64(n))
			}
		case kernels.Step:
			v = uint64(s.step.cells)
		}
		a.values[i] = v
	}
	a.n = len(list)
	return a
}

// finish waits for what was launched. On the GPU's thread.
func (g *GPU) finish(ctx context.Context) error {
	if err := cuEventRecord(g.to); err != nil {
		return err
	}
	return g.wait(ctx, g.to)
}
