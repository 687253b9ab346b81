package cuda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"stenciltune/device"
	"stenciltune/device/timing"
	"stenciltune/stencil"
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
	source := "typedef " + d.C() + " T;\n" + stencil.InputSource + checkSource
	image, log, err := c.build(source, "check.cu", []string{arch, "--std=c++17"}, ptx)
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
	if h.report, err = alloc(24); err != nil {
		return nil, errors.Join(err, cuModuleUnload(h.module))
	}
	g.helpers[string(d)] = h
	return h, nil
}

// helperGrid is enough threads to fill any GPU; the kernels loop.
var helperGrid, helperBlock = [3]int{2048, 1, 1}, [3]int{256, 1, 1}

func (g *GPU) fillInput(h *helper, to grid, n int64, seed uint32) error {
	return cuLaunchKernel(h.fill, helperGrid, helperBlock, 0, g.args.set(uint64(to.cells), uint64(n), uint64(seed)))
}

// clear empties the report.
func (g *GPU) clear(h *helper) error {
	return errors.Join(cuMemsetD32Async(h.report.ptr, 0, 6), cuMemsetD32Async(h.report.ptr+8, 0xFFFFFFFF, 2))
}

func (g *GPU) read(h *helper) (report, error) {
	words := make([]uint64, 3)
	err := cuMemcpyDtoH(words, h.report.ptr)
	return report{words[0], words[1], words[2]}, err
}

// expectation is the trusted kernel's answer, kept for the next schedule.
type expectation struct {
	key  string
	grid grid
}

// wantKey names a reference answer. Grids of the reference check are small.
type wantKey struct {
	hash  string
	size  stencil.Size
	seed  uint32
	steps int
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
	cmp := stencil.Comparison{Cells: c.Problem.Size.Cells(), Steps: device.Steps(c.Passes), Against: "reference", Tolerance: c.Tolerance}
	var expect *expectation
	h, err := g.helperFor(c.Problem.DType)
	if err != nil {
		return cmp, err
	}
	if len(c.Trusted) > 0 {
		cmp.Against = c.Trusted[0].Binary.Schedule.String()
		if expect, err = g.expect(ctx, h, c); err != nil {
			return cmp, err
		}
	}
	p, err := g.pairFor(c.Problem)
	if err != nil {
		return cmp, err
	}
	if err := errors.Join(p.a.guard(), p.b.guard()); err != nil { // whatever ran before
		return cmp, err
	}
	last, err := g.run(ctx, h, p, c.Problem, c.Passes, c.Seed)
	if err != nil {
		return cmp, err
	}
	if err := g.guards(h, p, &cmp); err != nil {
		return cmp, err
	}
	if expect != nil {
		return cmp, g.compareOnDevice(h, last, expect.grid, &cmp)
	}
	return g.compareOnHost(last, c, cmp)
}

// run fills the first grid, runs the passes back and forth and gives the grid
// that holds the answer. Each launch's target is poisoned first, and each launch
// waited for: a kernel that hangs must not have others queued behind it.
func (g *GPU) run(ctx context.Context, h *helper, p *pair, pr stencil.Problem, passes []device.Pass, seed uint32) (grid, error) {
	src, dst := p.a, p.b
	if err := g.fillInput(h, src, pr.Size.Cells(), seed); err != nil {
		return src, g.failed(passes[0].Binary, "filling the input of", err)
	}
	for _, pass := range passes {
		m, ok := g.modules[pass.Binary.ID]
		if !ok {
			return src, fmt.Errorf("cuda: %s is not loaded", pass.Binary.Schedule)
		}
		for range pass.Count {
			err := dst.poison()
			if err == nil {
				err = g.launch(m, pass.Launch, src.cells, dst.cells, pr.Size)
			}
			if err == nil {
				err = cuEventRecord(g.to)
			}
			if err == nil {
				err = g.wait(ctx, g.to)
			}
			if err != nil {
				return src, g.failed(pass.Binary, "running", err)
			}
			src, dst = dst, src
		}
	}
	return src, nil
}

// guards counts changed words around both grids.
func (g *GPU) guards(h *helper, p *pair, cmp *stencil.Comparison) error {
	if err := g.clear(h); err != nil {
		return err
	}
	for _, gr := range []grid{p.a, p.b} {
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
	key := fmt.Sprint(c.Problem.Stencil.Hash, c.Problem.DType, c.Problem.Size, c.Seed, steps, c.Trusted[0].Binary.ID)
	for i, e := range g.expected {
		if e.key == key {
			g.expected = append(append(g.expected[:i:i], g.expected[i+1:]...), e)
			return e, nil
		}
	}
	// Up to a quarter of the memory keeps answers; at least one is needed.
	bytes := c.Problem.Bytes()
	for len(g.expected) > 0 && int64(len(g.expected)+1)*bytes > g.machine.FreeBytes/4 {
		if err := g.forget(); err != nil {
			return nil, err
		}
	}
	p, err := g.pairFor(c.Problem)
	if err != nil {
		return nil, err
	}
	last, err := g.run(ctx, h, p, c.Problem, c.Trusted, c.Seed)
	if err != nil {
		if f := device.AsFailure(err); f != nil {
			f.Reason = "the trusted kernel failed: " + f.Reason
		}
		return nil, err
	}
	keep, err := newGrid(c.Problem)
	for err != nil && len(g.expected) > 0 { // make room
		if err := g.forget(); err != nil {
			return nil, err
		}
		keep, err = newGrid(c.Problem)
	}
	if err != nil {
		return nil, err
	}
	if err := cuMemcpyDtoDAsync(keep.cells, last.cells, bytes); err != nil {
		return nil, errors.Join(err, keep.free())
	}
	e := &expectation{key, keep}
	g.expected = append(g.expected, e)
	return e, nil
}

// forget frees the answer used longest ago.
func (g *GPU) forget() error {
	e := g.expected[0]
	g.expected = g.expected[1:]
	return e.grid.free()
}

func (g *GPU) compareOnDevice(h *helper, got, want grid, cmp *stencil.Comparison) error {
	if err := g.clear(h); err != nil {
		return err
	}
	a := g.args.set(uint64(got.cells), uint64(want.cells), uint64(cmp.Cells), math.Float64bits(cmp.Tolerance), uint64(h.report.ptr))
	if err := cuLaunchKernel(h.compare, helperGrid, helperBlock, 0, a); err != nil {
		return err
	}
	r, err := g.read(h)
	if err != nil {
		return err
	}
	cmp.Wrong, cmp.MaxError = int64(r.wrong), math.Float64frombits(r.maxError)
	if cmp.Wrong > 0 {
		cmp.First = int64(r.first)
		elem := got.size / cmp.Cells
		for _, v := range []struct {
			at grid
			to *string
		}{{got, &cmp.Got}, {want, &cmp.Want}} {
			one, err := download(v.at.cells+devicePtr(cmp.First*elem), 1, int(elem))
			if err != nil {
				return err
			}
			*v.to = fmt.Sprint(one[0])
		}
	}
	return nil
}

// compareOnHost compares with the float64 reference.
func (g *GPU) compareOnHost(last grid, c device.Check, cmp stencil.Comparison) (stencil.Comparison, error) {
	got, err := download(last.cells, cmp.Cells, c.Problem.DType.Size())
	if err != nil {
		return cmp, err
	}
	key := wantKey{c.Problem.Stencil.Hash, c.Problem.Size, c.Seed, cmp.Steps}
	want, ok := g.want[key]
	if !ok {
		if len(g.want) > 64 {
			clear(g.want)
		}
		want = stencil.Reference(c.Problem, stencil.Fill(c.Seed, cmp.Cells), cmp.Steps)
		g.want[key] = want
	}
	r := stencil.Compare(got, want, c.Tolerance)
	r.Steps, r.Against, r.Guard = cmp.Steps, cmp.Against, cmp.Guard
	return r, nil
}

// download copies elements of 4 or 8 bytes and widens them. It waits for what was
// launched before it.
func download(from devicePtr, n int64, elem int) ([]float64, error) {
	if elem == 8 {
		v := make([]float64, n)
		return v, cuMemcpyDtoH(v, from)
	}
	v := make([]float32, n)
	if err := cuMemcpyDtoH(v, from); err != nil {
		return nil, err
	}
	wide := make([]float64, n)
	for i, x := range v {
		wide[i] = float64(x)
	}
	return wide, nil
}

// CopyBandwidth is bytes read plus bytes written a second by a copy of one grid
// to another, the median of 20 after one to warm up.
func (g *GPU) CopyBandwidth(ctx context.Context, bytes int64) (float64, error) {
	var rate float64
	bytes = bytes / 4 * 4 // whole words
	err := g.do(func() error {
		p, err := g.pairOf(bytes, 0)
		if err != nil {
			return err
		}
		var times []float64
		for i := range 21 {
			t, err := g.region(ctx, func() error { return cuMemcpyDtoDAsync(p.b.cells, p.a.cells, bytes) })
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
