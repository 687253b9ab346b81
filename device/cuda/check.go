package cuda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"stenciltune/device"
	"stenciltune/stencil"
	"stenciltune/timing"
)

//go:embed check.cu
var checkSource string

// helper is the check kernels for one element type.
type helper struct {
	module                 cuModule
	fill, compare, changed cuFunction
	report                 buffer
}

func (h *helper) free() error { return errors.Join(h.report.free(), cuModuleUnload(h.module)) }

// report is Report of check.cu.
type report struct {
	wrong    uint64
	first    uint64
	maxError uint64 // bits of a double
	peak     uint64 // bits of a double
}

// checkProgram is the text of the check kernels.
func checkProgram(d stencil.DType) string {
	return stencil.TypeSource(d) + "typedef " + d.C() + " T;\n" + stencil.InputSource + checkSource
}

// helperFor compiles the check kernels on first use.
func (g *GPU) helperFor(d stencil.DType) (*helper, error) {
	if h, ok := g.helpers[string(d)]; ok {
		return h, nil
	}
	c, err := OpenCompiler()
	if err != nil {
		return nil, err
	}
	arch, ptx, err := c.target(g.machine.ComputeCapability)
	if err != nil {
		return nil, err
	}
	image, log, err := c.build(checkProgram(d), "check.cu", []string{arch, "--std=c++17", "--fmad=false"}, ptx)
	if err != nil {
		return nil, fmt.Errorf("the check kernels do not compile: %w: %s", err, log)
	}
	h := &helper{}
	if h.module, err = cuModuleLoadData(append(image, 0)); err != nil {
		return nil, err
	}
	for name, f := range map[string]*cuFunction{"fill_input": &h.fill, "compare_cells": &h.compare, "count_changed": &h.changed} {
		if *f, err = cuModuleGetFunction(h.module, name); err != nil {
			return nil, errors.Join(err, cuModuleUnload(h.module))
		}
	}
	if h.report, err = alloc(32); err != nil {
		return nil, errors.Join(err, cuModuleUnload(h.module))
	}
	g.helpers[string(d)] = h
	return h, nil
}

// helperGrid is enough threads to fill any GPU; the kernels loop.
var helperGrid, helperBlock = [3]int{2048, 1, 1}, [3]int{256, 1, 1}

// clear empties the report.
func (g *GPU) clear(h *helper) error {
	return errors.Join(cuMemsetD32Async(h.report.ptr, 0, 8), cuMemsetD32Async(h.report.ptr+8, 0xFFFFFFFF, 2))
}

func (g *GPU) read(h *helper) (report, error) {
	words := make([]uint64, 4)
	err := cuMemcpyDtoH(words, h.report.ptr)
	return report{words[0], words[1], words[2], words[3]}, err
}

// expectation is the trusted kernel's answer, kept for the next schedule.
type expectation struct {
	key    string
	fields []grid
}

func (e *expectation) free() error {
	var errs []error
	for i := range e.fields {
		errs = append(errs, e.fields[i].free())
	}
	return errors.Join(errs...)
}

// wantKey names a reference answer. Grids of the reference check are small.
type wantKey struct {
	course string
	steps  int
}

// Check runs passes on a fresh input and compares every cell and both guard zones.
func (g *GPU) Check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	var cmp stencil.Comparison
	err := g.do(func() (err error) {
		cmp, err = g.check(ctx, c)
		return err
	})
	return cmp, err
}

func (g *GPU) check(ctx context.Context, c device.Check) (stencil.Comparison, error) {
	cells := c.Problem.Size.Cells() * int64(len(c.Problem.Stencil.Fields))
	recorded := c.Problem.Recorded()
	cmp := stencil.Comparison{Cells: cells + recorded, Recorded: recorded, Steps: device.Steps(c.Passes), Against: "reference"}
	var expect *expectation
	h, err := g.helperFor(c.Problem.DType) // whose counter of words serves all types
	if err != nil {
		return cmp, err
	}
	if len(c.Trusted) > 0 {
		cmp.Against = c.Trusted[0].Binary.Schedule.String()
		if expect, err = g.expect(ctx, h, c); err != nil {
			return cmp, err
		}
	}
	p := c.Problem
	if c.Reduce {
		p.Stencil = p.Stencil.Reduction()
	}
	a, err := g.arraysFor(p)
	if err != nil {
		return cmp, err
	}
	fields, numbers, err := g.run(ctx, a, p, c.Passes, c.Seed)
	if err != nil {
		return cmp, err
	}
	if err := g.guards(h, a, &cmp); err != nil {
		return cmp, err
	}
	if c.Reduce {
		raw := make([]byte, 8*c.Passes[0].Launch.Blocks())
		if err := cuMemcpyDtoH(raw, fields[len(c.Problem.Stencil.Fields)].cells); err != nil {
			return cmp, err
		}
		return c.Reduced(raw, cmp.Guard), nil
	}
	if expect != nil {
		return cmp, g.compareOnDevice(c, fields, expect.fields, &cmp)
	}
	return g.compareOnHost(fields, numbers, c, cmp)
}

// run fills the arrays, runs the passes back and forth and gives the grids that
// hold the fields then, and what receivers recorded, and that of the last step's numbers. Each launch's targets are poisoned first, and each launch
// waited for: a kernel that hangs must not have others queued behind it.
func (g *GPU) run(ctx context.Context, a *arrays, p stencil.Problem, passes []device.Pass, seed uint32) ([]grid, grid, error) {
	s, err := g.start(p, a, seed)
	if err != nil {
		return nil, grid{}, g.failed(passes[0].Binary, "filling the input of", err)
	}
	for _, pass := range passes {
		m, ok := g.modules[pass.Binary.ID]
		if !ok {
			return nil, grid{}, fmt.Errorf("cuda: %s is not loaded", pass.Binary.Schedule)
		}
		for range pass.Count {
			err := g.launch(m, pass.Launch, s, true)
			if err == nil {
				err = g.finish(ctx)
			}
			if err != nil {
				return nil, grid{}, g.failed(pass.Binary, "running", err)
			}
		}
	}
	return s.answers(), s.step, nil
}

// guards counts changed words around all arrays.
func (g *GPU) guards(h *helper, a *arrays, cmp *stencil.Comparison) error {
	if err := g.clear(h); err != nil {
		return err
	}
	for _, gr := range a.grids() {
		for _, z := range gr.zones() {
			if err := cuLaunchKernel(h.changed, [3]int{16, 1, 1}, helperBlock, 0, g.args.set(uint64(z.ptr), uint64(z.bytes/4), guardPattern, uint64(h.report.ptr))); err != nil {
				return err
			}
		}
	}
	r, err := g.read(h)
	if err != nil {
		return err
	}
	cmp.Guard = int64(r.wrong)
	return nil
}

// expect gives the trusted answer, computed on first use.
func (g *GPU) expect(ctx context.Context, h *helper, c device.Check) (*expectation, error) {
	steps := device.Steps(c.Passes)
	key := fmt.Sprint(c.Problem.Course(c.Seed), " ", steps, " ", c.Trusted[0].Binary.ID)
	for i, e := range g.expected {
		if e.key == key {
			g.expected = append(append(g.expected[:i:i], g.expected[i+1:]...), e)
			return e, nil
		}
	}
	// Up to a quarter of the memory keeps answers; at least one is needed.
	kept := c.Problem.FieldBytes()
	for _, e := range g.expected {
		kept += bytesOf(e.fields)
	}
	for len(g.expected) > 0 && kept > g.machine.FreeBytes/4 {
		kept -= bytesOf(g.expected[0].fields)
		if err := g.forget(); err != nil {
			return nil, err
		}
	}
	a, err := g.arraysFor(c.Problem)
	if err != nil {
		return nil, err
	}
	fields, _, err := g.run(ctx, a, c.Problem, c.Trusted, c.Seed)
	if err != nil {
		if f := device.AsFailure(err); f != nil {
			f.Reason = "the trusted kernel failed: " + f.Reason
		}
		return nil, err
	}
	e := &expectation{key: key}
	for _, f := range fields {
		keep, err := newGuarded(f.size, 0)
		for err != nil && len(g.expected) > 0 { // make room
			if err := g.forget(); err != nil {
				return nil, errors.Join(err, e.free())
			}
			keep, err = newGuarded(f.size, 0)
		}
		if err != nil {
			return nil, errors.Join(err, e.free())
		}
		e.fields = append(e.fields, keep)
		if err := cuMemcpyDtoDAsync(keep.cells, f.cells, f.size); err != nil {
			return nil, errors.Join(err, e.free())
		}
	}
	g.expected = append(g.expected, e)
	return e, nil
}

// forget frees the answer used longest ago.
func (g *GPU) forget() error {
	e := g.expected[0]
	g.expected = g.expected[1:]
	return e.free()
}

// compareOnDevice compares field by field, and then what receivers recorded.
func (g *GPU) compareOnDevice(c device.Check, got, want []grid, cmp *stencil.Comparison) error {
	p := c.Problem
	end := int64(0) // of the elements compared
	for f := range got {
		stored := p.AnswerType(f)
		cells := got[f].size / int64(stored.Size())
		end += cells
		if f < len(p.Stencil.Fields) && p.Stencil.Fields[f].Temporary {
			continue
		}
		h, err := g.helperFor(stored)
		if err != nil {
			return err
		}
		allowed := stencil.Of(c.Allowed, f)
		tolerance := allowed.Error
		compare := func() (report, error) {
			if err := g.clear(h); err != nil {
				return report{}, err
			}
			a := g.args.set(uint64(got[f].cells), uint64(want[f].cells), uint64(cells), math.Float64bits(tolerance), uint64(h.report.ptr))
			if err := cuLaunchKernel(h.compare, helperGrid, helperBlock, 0, a); err != nil {
				return report{}, err
			}
			return g.read(h)
		}
		r, err := compare()
		if grown := allowed.For(math.Float64frombits(r.peak)); err == nil && r.wrong > 0 && grown > tolerance {
			tolerance = grown
			r, err = compare()
		}
		if err != nil {
			return err
		}
		worst := math.Float64frombits(r.maxError)
		cmp.MaxError = max(cmp.MaxError, worst)
		switch {
		case cmp.Wrong > 0: // the first wrong cell is known
		case r.wrong > 0:
			cmp.Tolerance, cmp.Share = tolerance, 0
		case worst > cmp.Share*tolerance || cmp.Tolerance == 0:
			if cmp.Tolerance = tolerance; worst > 0 {
				cmp.Share = worst / tolerance
			}
		}
		if cmp.Wrong == 0 && r.wrong > 0 {
			cmp.First = end - cells + int64(r.first)
			for _, v := range []struct {
				at grid
				to *string
			}{{got[f], &cmp.Got}, {want[f], &cmp.Want}} {
				size := int64(stored.Size())
				one, err := download(v.at.cells+devicePtr(int64(r.first)*size), size, stored)
				if err != nil {
					return err
				}
				*v.to = fmt.Sprint(one[0])
			}
		}
		cmp.Wrong += int64(r.wrong)
	}
	return nil
}

// compareOnHost compares with the float64 reference.
func (g *GPU) compareOnHost(fields []grid, step grid, c device.Check, cmp stencil.Comparison) (stencil.Comparison, error) {
	var got []float64
	for i, f := range fields {
		v, err := download(f.cells, f.size, c.Problem.AnswerType(i))
		if err != nil {
			return cmp, err
		}
		got = append(got, v...)
	}
	key := wantKey{c.Problem.Course(c.Seed), cmp.Steps}
	want, ok := g.want[key]
	if !ok {
		if len(g.want) > 64 {
			clear(g.want)
		}
		want = stencil.Judge(c.Problem, c.Seed, cmp.Steps)
		g.want[key] = want
	}
	r := want.Within(c.Problem, c.Problem.Forget(got), c.Allowed)
	r.Recorded, r.Steps, r.Against, r.Guard = cmp.Recorded, cmp.Steps, cmp.Against, cmp.Guard
	if n := int64(len(c.Problem.Stencil.StepScalars)); n > 0 {
		numbers, err := download(step.cells, 8*n, stencil.Float64)
		if err != nil {
			return cmp, err
		}
		r = want.CompareNumbers(r, numbers)
	}
	return r, nil
}

// download copies elements and widens them. It waits for what was launched before
// it.
func download(from devicePtr, bytes int64, d stencil.DType) ([]float64, error) {
	raw := make([]byte, bytes)
	if err := cuMemcpyDtoH(raw, from); err != nil {
		return nil, err
	}
	return stencil.Widen(d, raw), nil
}

// CopyBandwidth is bytes read plus bytes written a second by a copy of one grid
// to another, the median of 20 after one to warm up.
func (g *GPU) CopyBandwidth(ctx context.Context, bytes int64) (float64, error) {
	var rate float64
	bytes = bytes / 4 * 4 // whole words
	err := g.do(func() error {
		a, err := g.arraysOf(0, []int64{bytes}, nil)
		if err != nil {
			return err
		}
		var times []float64
		for i := range 21 {
			t, err := g.region(ctx, func() error { return cuMemcpyDtoDAsync(a.fields[0].b.cells, a.fields[0].a.cells, bytes) })
			if err != nil {
				return err
			}
			if i > 0 && t > 0 {
				times = append(times, t)
			}
		}
		if len(times) == 0 {
			return errors.New("the copy took no time: the buffer is too small to measure")
		}
		rate = 2 * float64(bytes) / timing.Summarise(times).Median
		return nil
	})
	return rate, err
}

// region is the elapsed seconds of what f launches.
func (g *GPU) region(ctx context.Context, f func() error) (float64, error) {
	if err := cuEventRecord(g.from); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := cuEventRecord(g.to); err != nil {
		return 0, err
	}
	if err := g.wait(ctx, g.to); err != nil {
		return 0, err
	}
	return cuEventElapsed(g.from, g.to)
}
