package verify

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
)

// batch is how many cases a batcher compiles together: on the host one program for all
// costs a fraction of one each.
const batch = 20

// limit is the time one check may take; grids are small, so that only a hang passes
// it, even where sanitizers make the emulation a hundred times slower.
const limit = 3 * time.Minute

// batcher is a device that compiles several kernels at once for less than one each.
// All fail together.
type batcher interface {
	CompileBatch(ctx context.Context, ks []kernels.Kernel) ([]device.Binary, error)
}

// impulseSteps are the most steps of a launch from impulses: after two a weight that is a hundredth off is beyond the bound of some cell,
// after four most are and each that is two off.
const impulseSteps = 4

// Result is what became of a case.
type Result struct {
	stencil.Comparison
	Failure        *device.Failure     // compiling or running failed; nil if it was compared
	On             stencil.Problem     // that was run: the case's, or where that is right a further one, that of its Reduce, from impulses or from a NaN
	CompileSeconds float64             // of the longest of its kernels
	Erratic        bool                // wrong, and right when run again
	Number         *stencil.Comparison // of what Reduce gives, if it was compared and is not wrong
}

// Name is the case on one line, on the grid that was run.
func (r Result) Name(c Case) string {
	c.Problem = r.On
	if r.On.Impulses {
		return c.Name() + " from impulses"
	}
	if r.On.NaN {
		return c.Name() + " from a NaN"
	}
	return c.Name()
}

// Fault says what is wrong, "" where all is right that could be judged.
func (r Result) Fault() string {
	if r.Failure != nil {
		return r.Failure.Error()
	}
	if r.Unproved() {
		return ""
	}
	fault := r.Reason(r.On.Size)
	if r.Erratic {
		fault += "; right when run again: the kernel races, or the device errs"
	}
	return fault
}

// built is a compiled kernel, or why there is none.
type built struct {
	binary device.Binary
	err    error
}

// Run compiles cases, several ahead, runs them one after the other and tells what
// became of each, until all are told or tell says to stop. An error means that the
// device is lost or the context ended.
func Run(ctx context.Context, d device.Device, cases []Case, tell func(Case, Result) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type part struct {
		cases []Case
		done  chan map[string]built
	}
	var parts []*part
	together := 1 // else each would wait for the slowest of many
	if _, ok := d.(batcher); ok {
		together = batch
	}
	for some := range slices.Chunk(cases, together) {
		parts = append(parts, &part{some, make(chan map[string]built, 1)})
	}
	slots := make(chan struct{}, runtime.NumCPU())
	begun := 0
	ahead := func(n int) {
		for ; begun < min(n, len(parts)); begun++ {
			p := parts[begun]
			go func() { p.done <- compile(ctx, d, p.cases, slots) }()
		}
	}
	// Nothing may use the device once Run has returned.
	defer func() {
		cancel()
		for _, p := range parts[:begun] {
			if p.cases != nil {
				release(d, <-p.done)
			}
		}
	}()
	for i, p := range parts {
		ahead(i + max(2, runtime.NumCPU()))
		binaries := <-p.done
		list := p.cases
		p.cases = nil
		for _, c := range list {
			r, err := check(ctx, d, c, binaries)
			if err != nil {
				release(d, binaries)
				return err
			}
			if !tell(c, r) {
				release(d, binaries)
				return nil
			}
		}
		release(d, binaries)
	}
	return nil
}

func release(d device.Device, binaries map[string]built) {
	for _, b := range binaries {
		if b.err == nil {
			d.Release(b.binary)
		}
	}
}

// compile builds the kernels of cases, by entry, as many at once as there are slots.
func compile(ctx context.Context, d device.Device, cases []Case, slots chan struct{}) map[string]built {
	all := map[string]built{}
	var ks []kernels.Kernel
	add := func(k kernels.Kernel) {
		if _, twice := all[k.Entry]; !twice {
			all[k.Entry] = built{}
			ks = append(ks, k)
		}
	}
	for _, c := range cases {
		add(c.Kernel)
		if c.Remainder != nil {
			add(*c.Remainder)
		}
		if c.Reduction != nil {
			add(c.Reduction.Kernel)
		}
	}
	if b, ok := d.(batcher); ok {
		if bs, err := b.CompileBatch(ctx, ks); err == nil {
			for i, k := range ks {
				all[k.Entry] = built{binary: bs[i]}
			}
			return all
		} // else each alone tells which is to blame
	}
	one := make([]built, len(ks))
	var wg sync.WaitGroup
	for i, k := range ks {
		wg.Go(func() {
			slots <- struct{}{}
			one[i].binary, one[i].err = d.Compile(ctx, k)
			<-slots
		})
	}
	wg.Wait()
	for i, k := range ks {
		all[k.Entry] = one[i]
	}
	return all
}

// check runs a case and compares every cell with the reference: on its grid, on further ones, and where sums are rounded to 16
// bits, which hides a wrong weight, also a launch from impulses. Then the numbers that follow from all cells: of a grid with a NaN that of a step, and that of its Reduce.
func check(ctx context.Context, d device.Device, c Case, binaries map[string]built) (Result, error) {
	var passes []device.Pass
	slowest := 0.0
	for _, k := range []*kernels.Kernel{&c.Kernel, c.Remainder} {
		if k == nil {
			continue
		}
		b := binaries[k.Entry]
		if b.err != nil {
			return result(ctx, c.Problem, stencil.Comparison{}, b.err)
		}
		slowest = max(slowest, b.binary.CompileSeconds)
		count := c.Launches
		if k == c.Remainder {
			count = 1
		}
		passes = append(passes, device.Pass{Binary: b.binary, Launch: k.Launch, Count: count})
	}
	r, err := compare(ctx, d, device.Check{Problem: c.Problem, Passes: passes, Seed: c.Seed})
	also := func(asked device.Check) {
		if err == nil && r.Fault() == "" {
			further, other := compare(ctx, d, asked)
			if other != nil || further.Fault() != "" {
				r, err = further, other
			} else if asked.Reduce && !asked.Problem.NaN {
				r.Number = &further.Comparison
			}
		}
	}
	for _, one := range passes {
		if c.Problem.DType.Packed() && one.Launch.Steps <= impulseSteps {
			p := c.Problem
			one.Count, p.Impulses = 1, true
			also(device.Check{Problem: p, Passes: []device.Pass{one}, Seed: c.Seed})
		}
	}
	if c.nan != 0 {
		p, one := c.Problem, passes[0]
		p.NaN, one.Count = true, 1
		if one.Launch.Leaves() { // the next step's numbers
			one.Count = 2
		}
		also(device.Check{Problem: p, Passes: []device.Pass{one}, Seed: c.nan})
	}
	for _, grid := range c.further {
		there := slices.Clone(passes)
		there[0].Launch, there[0].Count = grid.kernel, grid.launches
		if len(there) > 1 {
			there[1].Launch = grid.remainder
		}
		also(device.Check{Problem: grid.problem, Passes: there, Seed: c.Seed})
	}
	if n := c.Reduction; n != nil && err == nil && r.Fault() == "" {
		b := binaries[n.Kernel.Entry]
		if b.err != nil {
			return result(ctx, n.Problem, stencil.Comparison{}, b.err)
		}
		asked := device.Check{Problem: n.Problem, Passes: []device.Pass{{Binary: b.binary, Launch: n.Kernel.Launch, Count: 1}}, Reduce: true}
		for _, asked.Seed = range n.Seeds {
			also(asked)
		}
		if asked.Problem.NaN, asked.Seed = true, n.NaN; n.NaN != 0 {
			also(asked)
		}
	}
	r.CompileSeconds = slowest
	return r, err
}

// compare runs passes, and again if they are wrong: does it always fail?
func compare(ctx context.Context, d device.Device, asked device.Check) (Result, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmp, err := d.Check(bounded, asked)
	r, err := result(ctx, asked.Problem, cmp, err)
	if err == nil && r.Failure == nil && !cmp.OK() && !cmp.Unproved() {
		cmp, err := d.Check(bounded, asked)
		r.Erratic = err == nil && cmp.OK()
	}
	return r, err
}

// result tells a case's own failure from the end of everything.
func result(ctx context.Context, on stencil.Problem, cmp stencil.Comparison, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	f := device.AsFailure(err)
	if err != nil && f == nil {
		return Result{}, err
	}
	return Result{Comparison: cmp, Failure: f, On: on}, nil
}
