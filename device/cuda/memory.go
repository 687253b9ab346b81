package cuda

import (
	"errors"
	"fmt"
	"slices"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// buffer is device memory; the zero buffer is none.
type buffer struct {
	ptr   devicePtr
	bytes int64
}

// alloc takes device memory. Running out of it is a launch failure, not a loss.
func alloc(bytes int64) (buffer, error) {
	p, err := cuMemAlloc(bytes)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == outOfMemory {
		return buffer{}, device.Fail(timing.LaunchError, "%d bytes of device memory: %v", bytes, err)
	}
	return buffer{p, bytes}, err
}

func (b *buffer) free() error {
	if b.ptr == 0 {
		return nil
	}
	p := b.ptr
	*b = buffer{}
	return cuMemFree(p)
}

// Guard zones stand before and after every grid and hold a pattern that a kernel
// must not change. They are as long as a plane of the grid (a row in two
// dimensions), so that being off by one on any axis lands in them, within bounds.
// Their length keeps the grid aligned.
const (
	leastGuard   = 64 << 10
	mostGuard    = 16 << 20
	guardPattern = 0xA5C3A5C3
	poison       = 0xFFFFFFFF // a NaN in every floating-point type; -1 or the largest of integers
)

// guardBytes is the length of a guard zone for a problem.
func guardBytes(p stencil.Problem) int64 {
	largest := p.DType.Size()
	for a := range len(p.Stencil.Fields) + len(p.Stencil.ReadOnly) {
		largest = max(largest, p.Stored(a).Size())
	}
	plane := int64(p.Size[0]) * int64(largest)
	if p.Stencil.Dims == 3 {
		plane *= int64(p.Size[1])
	}
	return (min(max(plane, leastGuard), mostGuard) + 255) / 256 * 256
}

// grid is an array of cells between guard zones.
type grid struct {
	buffer
	cells devicePtr
	size  int64 // bytes of the cells
}

func newGuarded(bytes, guard int64) (grid, error) {
	b, err := alloc((bytes+255)/256*256 + 2*guard)
	if err != nil {
		return grid{}, err
	}
	g := grid{b, b.ptr + devicePtr(guard), bytes}
	if err := g.guard(); err != nil {
		return grid{}, errors.Join(err, g.free())
	}
	return g, nil
}

// guard writes both guard zones, including what pads the cells to their end.
func (g grid) guard() error {
	for _, z := range g.zones() {
		if z.bytes == 0 {
			continue
		}
		if err := cuMemsetD32Async(z.ptr, guardPattern, z.bytes/4); err != nil {
			return err
		}
	}
	return nil
}

// zones are the memory before and after the cells.
func (g grid) zones() [2]buffer {
	end := g.cells + devicePtr((g.size+3)/4*4)
	return [2]buffer{{g.ptr, int64(g.cells - g.ptr)}, {end, int64(g.ptr) + g.bytes - int64(end)}}
}

// poison makes every cell NaN, so that one that is not written shows.
func (g grid) poison() error { return cuMemsetD32Async(g.cells, poison, (g.size+3)/4) }

// bytesOf is the device memory that grids take, guard zones included.
func bytesOf(grids []grid) (n int64) {
	for _, g := range grids {
		n += g.bytes
	}
	return n
}

// pair is the two grids a field alternates between.
type pair struct{ a, b grid }

func (p *pair) free() error { return errors.Join(p.a.free(), p.b.free()) }

// arrays is what a problem's kernels work on: every field before and after a stage,
// and the read-only arrays.
type arrays struct {
	key      string // what they are for
	fields   []*pair
	readOnly []grid
	step     grid // of step scalars; none without
	sparse   []list
}

// list is what a list of places is given: them, and its table.
type list struct{ places, table grid }

func (l *list) free() error { return errors.Join(l.places.free(), l.table.free()) }

// grids lists all of them.
func (a *arrays) grids() []grid {
	var all []grid
	for _, p := range a.fields {
		all = append(all, p.a, p.b)
	}
	all = append(all, a.readOnly...)
	if a.step.ptr != 0 {
		all = append(all, a.step)
	}
	for _, l := range a.sparse {
		all = append(all, l.places, l.table)
	}
	return all
}

func (a *arrays) free() error {
	var errs []error
	for _, p := range a.fields {
		errs = append(errs, p.free())
	}
	for i := range a.readOnly {
		errs = append(errs, a.readOnly[i].free())
	}
	for i := range a.sparse {
		errs = append(errs, a.sparse[i].free())
	}
	return errors.Join(append(errs, a.step.free())...)
}

// arraysFor gives the arrays of a problem, kept from call to call.
func (g *GPU) arraysFor(p stencil.Problem) (*arrays, error) {
	var fields, sizes []int64
	for f := range p.Stencil.Fields {
		fields = append(fields, p.Size.Cells()*int64(p.Stored(f).Size()))
	}
	for i, n := range p.Lengths() {
		sizes = append(sizes, n*int64(p.Stored(len(p.Stencil.Fields)+i).Size()))
	}
	a, err := g.arraysOf(guardBytes(p), fields, sizes)
	n := 8 * int64(kernels.StepDoubles(p.Stencil))
	if err == nil && n > a.step.size {
		if err = a.step.free(); err == nil {
			a.step, err = newGuarded(n, leastGuard)
		}
	}
	for err == nil && len(a.sparse) < len(p.Stencil.Sparse) {
		var l list
		if l.places, err = newGuarded(8*stencil.SparsePlaces, leastGuard); err != nil {
			break
		}
		if l.table, err = newGuarded(8*stencil.SparsePlaces*stencil.SparseRows, leastGuard); err != nil { // of elements of any type
			return nil, errors.Join(err, l.free())
		}
		a.sparse = append(a.sparse, l)
	}
	return a, err
}

// arraysOf finds or makes pairs of grids of some bytes, and read-only arrays.
// Sets are kept: those of the checks on small grids, whose size depends on the schedule,
// and the problem's own, up to half of the memory (but two in any case).
func (g *GPU) arraysOf(guard int64, fields, readOnly []int64) (*arrays, error) {
	key := fmt.Sprint(guard, fields, readOnly)
	kept := int64(0)
	for _, n := range fields {
		kept += 2 * (n + 2*guard)
	}
	for i, a := range g.arrays {
		if a.key == key {
			g.arrays = append(slices.Delete(g.arrays, i, i+1), a)
			return a, nil
		}
		kept += bytesOf(a.grids())
	}
	for len(g.arrays) > 1 && kept > g.machine.FreeBytes/2 {
		kept -= bytesOf(g.arrays[0].grids())
		if err := g.dropArrays(1); err != nil {
			return nil, err
		}
	}
	a := &arrays{key: key}
	fail := func(err error) (*arrays, error) {
		return nil, fmt.Errorf("two grids each of %d bytes: %w", fields, errors.Join(err, a.free()))
	}
	for _, n := range fields {
		p := &pair{}
		a.fields = append(a.fields, p)
		for _, one := range []*grid{&p.a, &p.b} {
			var err error
			if *one, err = newGuarded(n, guard); err != nil {
				return fail(err)
			}
		}
	}
	for _, n := range readOnly {
		one, err := newGuarded(n, guard)
		if err != nil {
			return fail(err)
		}
		a.readOnly = append(a.readOnly, one)
	}
	g.arrays = append(g.arrays, a)
	return a, nil
}

// dropArrays frees the n sets used longest ago.
func (g *GPU) dropArrays(n int) error {
	var errs []error
	for _, a := range g.arrays[:n] {
		errs = append(errs, a.free())
	}
	g.arrays = slices.Delete(g.arrays, 0, n)
	return errors.Join(errs...)
}
