package cuda

import (
	"context"
	"math"

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
	arguments [][]kernels.Argument // by stage
	iteration int
}

// start fills the arrays of a problem with the start data. On the GPU's thread.
func (g *GPU) start(h *helper, p stencil.Problem, a *arrays, seed uint32) (*state, error) {
	s := &state{problem: p, readOnly: a.readOnly, lengths: p.Lengths(), iteration: 1}
	for i := range p.Stencil.Stages {
		s.arguments = append(s.arguments, kernels.Arguments(p.Stencil, i))
	}
	low, step := p.InputScale()
	base := int64(0)
	fill := func(to grid) error {
		n := to.size / int64(p.DType.Size())
		args := g.args.set(uint64(to.cells), uint64(n), uint64(base), uint64(seed), math.Float64bits(low), math.Float64bits(step))
		base += n
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
	return s, nil
}

// launch runs a pass's kernels once: every stage, from the fields as they are now.
// With poison the targets are made NaN first. On the GPU's thread.
func (g *GPU) launch(m *module, l kernels.Launch, s *state, poison bool) error {
	for i, f := range m.stages {
		outputs := s.problem.Stencil.Stages[i].Outputs
		if poison {
			for _, o := range outputs {
				if err := s.next[o].poison(); err != nil {
					return err
				}
			}
		}
		if err := cuLaunchKernel(f, l.Grid, l.Block, l.SharedBytes, s.set(g.args, i)); err != nil {
			return err
		}
		for _, o := range outputs {
			s.now[o], s.next[o] = s.next[o], s.now[o]
		}
	}
	s.iteration += l.Steps
	return nil
}

// set fills in the parameters of a stage's kernel.
func (s *state) set(a *arguments, stage int) *arguments {
	st := s.problem.Stencil
	for i, arg := range s.arguments[stage] {
		var v uint64
		switch arg.Kind {
		case kernels.In:
			v = uint64(s.now[arg.Index].cells)
		case kernels.Out:
			v = uint64(s.next[st.Stages[stage].Outputs[arg.Index]].cells)
		case kernels.ReadOnly:
			v = uint64(s.readOnly[arg.Index].cells)
		case kernels.Length:
			v = uint64(s.lengths[arg.Index])
		case kernels.Extent:
			v = uint64(uint32(s.problem.Size[arg.Index]))
		case kernels.Iteration:
			v = uint64(uint32(s.iteration))
		case kernels.Scalar:
			if scalar := st.Scalars[arg.Index]; scalar.Type.Floating() {
				v = math.Float64bits(scalar.Default)
			} else {
				v = uint64(int64(scalar.Default))
			}
		}
		a.values[i] = v
	}
	a.n = len(s.arguments[stage])
	return a
}

// finish waits for what was launched. On the GPU's thread.
func (g *GPU) finish(ctx context.Context) error {
	if err := cuEventRecord(g.to); err != nil {
		return err
	}
	return g.wait(ctx, g.to)
}
