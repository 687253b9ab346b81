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
	sparse    []list
	rows      int                  // of their tables
	after     []kernels.StepLaunch // of a launch of one time step, for each list of places
	listed    [][]kernels.Argument // to each of those
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
	s := &state{problem: p, readOnly: a.readOnly, lengths: p.Lengths(), scalars: p.ScalarValues(), rows: stencil.RowsFor(seed), iteration: 1, arguments: map[launchKey][]kernels.Argument{}}
	for i := range a.sparse { // there is room for elements of any type
		a.sparse[i].table.size = int64(p.DType.Size()) * stencil.SparsePlaces * stencil.SparseRows
	}
	for _, gr := range a.grids() {
		if err := gr.guard(); err != nil {
			return nil, err
		}
	}
	base, array := int64(0), 0
	fillWith := func(to grid, n int64, stored stencil.DType, c stencil.Scale) error {
		h, err := g.helperFor(stored)
		if err != nil {
			return err
		}
		args := g.args.set(uint64(to.cells), uint64(n), uint64(base), uint64(seed), math.Float64bits(c.Low), math.Float64bits(c.Step), math.Float64bits(c.Quantum))
		base += n
		return cuLaunchKernel(h.fill, helperGrid, helperBlock, 0, args)
	}
	fill := func(to grid) error {
		stored := p.Stored(array)
		array++
		return fillWith(to, to.size/int64(stored.Size()), stored, p.InputScale(array-1))
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
		if err := s.step.poison(); err != nil {
			return nil, err
		}
	}
	s.sparse, s.after = a.sparse[:len(p.Stencil.Sparse)], kernels.SparseLaunches(p, "", 1)
	for i, l := range s.sparse {
		s.listed = append(s.listed, kernels.SparseArguments(p.Stencil, i))
		if err := fillWith(l.places, stencil.SparsePlaces, stencil.Int64, p.PlaceScale()); err != nil {
			return nil, err
		}
		if !p.Stencil.Sparse[i].Sources() {
			if err := cuMemsetD32Async(l.table.cells, 0, l.table.size/4); err != nil {
				return nil, err
			}
		} else if err := fillWith(l.table, stencil.SparsePlaces*stencil.SparseRows, p.DType, p.TableScale(i)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// launch launches one of the module's kernels.
func (m *module) launch(f cuFunction, l kernels.Launch, a *arguments) error {
	if m.facts.Awaits {
		return cuLaunchKernelEx(f, l.Grid, l.Block, l.SharedBytes, a)
	}
	return cuLaunchKernel(f, l.Grid, l.Block, l.SharedBytes, a)
}

// around launches what a time step of a pass begins or ends with; the first of them is the module's function first.
func (g *GPU) around(m *module, launches []kernels.StepLaunch, first int, s *state, given func(i int) []kernels.Argument) error {
	for i, b := range launches {
		if first+i == len(m.around) {
			f, err := cuModuleGetFunction(m.handle, m.facts.Entry+b.Entry)
			if err != nil {
				return err
			}
			m.around = append(m.around, f)
		}
		if first+i == 0 && s.left {
			continue
		}
		if err := m.launch(m.around[first+i], b.Launch, s.fillIn(g.args, given(i), nil)); err != nil {
			return err
		}
	}
	return nil
}

// answers are the grids of a run's answer: the fields, and then what receivers recorded.
func (s *state) answers() []grid {
	all := slices.Clone(s.now)
	for i, l := range s.sparse {
		if !s.problem.Stencil.Sparse[i].Sources() {
			all = append(all, l.table)
		}
	}
	return all
}

// launch runs a pass's kernels once: the step scalars', every stage and the lists of places, from the fields as they are now.
// With poison the targets are made NaN first. On the GPU's thread.
func (g *GPU) launch(m *module, l kernels.Launch, s *state, poison bool) error {
	if err := g.around(m, s.before, 0, s, func(int) []kernels.Argument { return s.given }); err != nil {
		return err
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
		if err := m.launch(f, l, s.set(g.args, launchKey{st, i, l.Steps}, writes)); err != nil {
			return err
		}
		s.exchange(stage, l.Steps, writes)
	}
	var err error
	if !kernels.DoesLists(s.problem.Stencil, l.Steps) {
		err = g.around(m, s.after, len(s.before), s, func(i int) []kernels.Argument { return s.listed[i] })
	}
	s.iteration += l.Steps
	s.left = l.Leaves()
	return err
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
	for _, w := range writes { // fields in types of their own take arrays of their own size
		i := slices.IndexFunc(free, func(b grid) bool { return b.size == s.next[w].size })
		s.next[w] = free[i]
		free = slices.Delete(free, i, i+1)
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
		case kernels.Changed:
			v = uint64(s.now[arg.Index].cells)
		case kernels.Places:
			v = uint64(s.sparse[arg.Index].places.cells)
		case kernels.PlaceCount:
			v = stencil.SparsePlaces
		case kernels.Table:
			v = uint64(s.sparse[arg.Index].table.cells)
		case kernels.TableRows:
			v = uint64(s.rows)
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
