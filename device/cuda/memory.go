package cuda

import (
	"errors"
	"fmt"

	"stenciltune/device"
	"stenciltune/device/timing"
	"stenciltune/stencil"
)

// buffer is device memory; the zero buffer is none.
type buffer struct {
	ptr   devicePtr
	bytes int64
}

// alloc takes device memory. Running out of it is a launch failure, not a loss.
func alloc(bytes int64) (buffer, error) {
	p, err := cuMemAlloc(bytes)
	var e *Error
	if errors.As(err, &e) && e.Status == outOfMemory {
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
	poison       = 0xFFFFFFFF // a NaN in every floating-point type
)

// guardBytes is the length of a guard zone for a problem.
func guardBytes(p stencil.Problem) int64 {
	plane := int64(p.Size[0]) * int64(p.DType.Size())
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

func newGrid(p stencil.Problem) (grid, error) { return newGuarded(p.Bytes(), guardBytes(p)) }

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
	end := g.cells + devicePtr(g.size)
	return [2]buffer{{g.ptr, int64(g.cells - g.ptr)}, {end, int64(g.ptr) + g.bytes - int64(end)}}
}

// poison makes every cell NaN, so that one that is not written shows.
func (g grid) poison() error { return cuMemsetD32Async(g.cells, poison, g.size/4) }

// pair is the two grids a stencil alternates between.
type pair struct{ a, b grid }

func (p *pair) free() error { return errors.Join(p.a.free(), p.b.free()) }

// pairFor gives the two grids of a problem, kept from call to call.
func (g *GPU) pairFor(p stencil.Problem) (*pair, error) { return g.pairOf(p.Bytes(), guardBytes(p)) }

// pairOf finds or makes two grids. At most two sizes are kept: the small one of
// the reference check and the problem's own.
func (g *GPU) pairOf(bytes, guard int64) (*pair, error) {
	key := [2]int64{bytes, guard}
	if p, ok := g.grids[key]; ok {
		return p, nil
	}
	if len(g.grids) > 1 {
		if err := g.dropGrids(); err != nil {
			return nil, err
		}
	}
	a, err := newGuarded(bytes, guard)
	if err == nil {
		var b grid
		if b, err = newGuarded(bytes, guard); err == nil {
			g.grids[key] = &pair{a, b}
			return g.grids[key], nil
		}
		err = errors.Join(err, a.free())
	}
	return nil, fmt.Errorf("two grids of %d bytes: %w", bytes, err)
}

func (g *GPU) dropGrids() error {
	var errs []error
	for n, p := range g.grids {
		errs = append(errs, p.free())
		delete(g.grids, n)
	}
	return errors.Join(errs...)
}
