package emit

import (
	"math"
	"slices"

	"stenciltune/cache"
	"stenciltune/kernels"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/stencil"
)

// shaped is a schedule whose blocks stream along the outermost axis. Its time on any grid is the plane steps that blocks make
// one after the other, times what one takes.
type shaped struct {
	schedule space.Schedule
	tiling   kernels.Tiling
	blocks   int     // that a multiprocessor runs at once
	atOnce   int     // that the tuned device does
	seconds  float64 // of a time step, for each plane step that the launch makes one after the other
}

// shape reckons by the cost model what a plane step takes on a problem's grid; ok is false where a schedule does not stream.
func (s Source) shape(of cache.Config, p stencil.Problem, sc space.Schedule) (one shaped, ok bool) {
	f := kernels.Find(s.Families, sc.Family())
	if _, cut := sc.Get("ck"); !cut || of.Device.SMs == 0 {
		return shaped{}, false
	}
	one = shaped{schedule: sc, tiling: f.(kernels.Tiler).Tiling(p, sc)}
	one.blocks = model.Schedule(p, f, sc, model.Facts{}, of.Machine()).BlocksPerSM
	one.atOnce = one.blocks * of.Device.SMs
	if one.tiling.Extra == 0 || one.atOnce == 0 {
		return shaped{}, false
	}
	tiles, steps := one.tiling.Cut(p.Size, kernels.Planes(p), one.atOnce)
	one.seconds = model.Schedule(p, f, sc.Without("sm").With("ck", tiles), model.Facts{}, of.Machine()).Seconds / float64(steps)
	return one, true
}

// cost is what a plane step takes of a launch, in ps.
func (one shaped) cost() int { return int(1e12 * one.seconds * float64(one.schedule.Int("ph", 1))) }

// on is the time of a step on a grid, infinite if a tile does not fit in.
func (one shaped) on(p stencil.Problem) float64 {
	for a, hold := range one.tiling.Hold {
		if p.Size[a] < hold {
			return math.Inf(1)
		}
	}
	_, steps := one.tiling.Cut(p.Size, kernels.Planes(p), one.atOnce)
	return one.seconds * float64(steps)
}

const (
	doubt     = 1.05 // by which a shape that was not tuned must seem faster: the model errs by as much
	enough    = 0.91 // of the best shape's speed
	few       = 0.02 // of the grids that shapes are chosen for may have less
	maxShapes = 2    // besides the tuned one: each is a kernel more to compile
)

// others are schedules in tiles of other shapes than the tuned one, for grids that those fit better or that have more blocks
// to fill a device with. Each is the one that makes grids near the problem's fastest in the mean, given those before it, and
// they end when few such grids lack speed.
func (s Source) others(of cache.Config, p stencil.Problem, own shaped) (list []shaped) {
	candidates := s.alike(of, p, own)
	var grids []stencil.Problem
	for _, x := range around(p, 0) {
		for _, y := range around(p, 1) {
			for _, z := range around(p, 2) {
				if g := p.Resized(stencil.Size{x, y, z}); !math.IsInf(own.on(g), 1) {
					grids = append(grids, g)
				}
			}
		}
	}
	now, least := make([]float64, len(grids)), make([]float64, len(grids)) // seconds with these shapes, and with all
	times := make([][]float64, len(candidates))
	for i, g := range grids {
		now[i] = own.on(g)
		least[i] = now[i]
		for c := range candidates {
			times[c] = append(times[c], doubt*candidates[c].on(g))
			least[i] = min(least[i], times[c][i])
		}
	}
	for len(list) < maxShapes {
		best, most, slow := 0, 0.0, 0
		for c := range candidates {
			gain := 0.0
			for i, t := range times[c] {
				gain += max(0, math.Log(now[i]/t))
			}
			if gain > most {
				best, most = c, gain
			}
		}
		for i := range now {
			if least[i] < enough*now[i] {
				slow++
			}
		}
		if float64(slow) <= few*float64(len(grids)) {
			break
		}
		for i, t := range times[best] {
			now[i] = min(now[i], t)
		}
		one := candidates[best]
		one.seconds *= doubt
		list = append(list, one)
	}
	return list
}

// alike are the shapes of tiles, in 2D the heights in time too, that a schedule may have on a problem. On that grid none is faster than the schedule, if that
// was tuned: a tune would have found it.
func (s Source) alike(of cache.Config, p stencil.Problem, own shaped) (list []shaped) {
	sc := own.schedule
	family := kernels.Find(s.Families, sc.Family()).Space(p, of.Machine())
	legal := space.New(family)
	all := []space.Schedule{sc.Without("sm").With("ck", 1)} // launchers cut the grid
	shape := kernels.TileParams()
	if p.Stencil.Dims == 2 { // in 3D the model does not tell heights in time apart well enough
		shape = append(shape, "ph")
	}
	for _, param := range family.Params {
		if _, has := sc.Get(param.Name); !has || !slices.Contains(shape, param.Name) {
			continue
		}
		var wider []space.Schedule
		for _, c := range all {
			for i, v := range param.Values {
				if i == 0 && param.Optional { // its default does not stand in a text
					wider = append(wider, c.Without(param.Name))
				} else {
					wider = append(wider, c.With(param.Name, v))
				}
			}
		}
		all = wider
	}
	for _, c := range all {
		if legal.Check(c) != nil {
			continue
		}
		one, ok := s.shape(of, p, c)
		if !ok {
			continue
		}
		if sc.String() == of.Schedule.Text {
			one.seconds = max(one.seconds, one.seconds*own.on(p)/one.on(p))
		}
		list = append(list, one)
	}
	return list
}

// around are extents of an axis from a sixteenth (in 3D a quarter) of a problem's to twice.
func around(p stencil.Problem, axis int) (list []int) {
	n := p.Size[axis]
	if n == 1 {
		return []int{1}
	}
	for i := -12 / max(1, p.Stencil.Dims-1); i <= 3; i++ {
		list = append(list, int(math.Round(float64(n)*math.Pow(2, float64(i)/3))))
	}
	return list
}
