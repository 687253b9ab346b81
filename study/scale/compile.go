package scale

import (
	"slices"

	"stenciltune/device/replay"
)

// host is the compilers that GPUs share.
type host struct {
	idle    int
	waiting []*build
	built   map[built]*build
	busy    float64 // seconds of all compilers
}

// built names a source of a problem.
type built struct {
	job    *job
	source string
}

// build is a source that waits for a compiler, is compiled, or was.
type build struct {
	name  built
	cost  replay.Cost
	items []*item // that wait for it
	began float64
	state int
}

// What becomes of a build.
const (
	waiting = iota
	running
	done
	dropped
)

// compile has a schedule compiled. A source that was compiled comes from the compiler's cache
// and keeps no compiler busy.
func (s *simulation) compile(h *host, i *item) {
	j := i.worker.job
	name := built{j, j.Recording.Records[i.schedule].SourceHash}
	b := h.built[name]
	if b == nil {
		b = &build{name: name, cost: j.Costs[name.source]}
		h.built[name] = b
		h.waiting = append(h.waiting, b)
	}
	if i.build = b; b.state == done {
		s.after(b.cost.Again, func() { s.compiled(i) })
		return
	}
	b.items = append(b.items, i)
	s.start(h)
}

// start gives idle compilers what waits.
func (s *simulation) start(h *host) {
	for ; h.idle > 0 && len(h.waiting) > 0; h.idle-- {
		b := h.waiting[0]
		h.waiting = h.waiting[1:]
		b.state, b.began = running, s.now
		s.after(b.cost.First, func() { s.finish(h, b) })
	}
}

// finish ends a compilation.
func (s *simulation) finish(h *host, b *build) {
	if b.state == dropped {
		return
	}
	b.state = done
	h.busy += s.now - b.began
	h.idle++
	s.start(h)
	for n, i := range b.items {
		if n == 0 {
			s.compiled(i)
		} else {
			s.after(b.cost.Again, func() { s.compiled(i) })
		}
	}
	b.items = nil
}

// compiled lets a worker go on that waits.
func (s *simulation) compiled(i *item) {
	i.ready = true
	if i.worker.waits {
		s.run(i.worker)
	}
}

// drop takes a schedule back that nobody needs any more, and its compilation, as a tune that
// ends kills its compilers.
func (s *simulation) drop(h *host, i *item) {
	b := i.build
	if i.ready || b.state == done {
		return
	}
	b.items = slices.DeleteFunc(b.items, func(x *item) bool { return x == i })
	if len(b.items) > 0 {
		return
	}
	if b.state == running {
		h.busy += s.now - b.began
		h.idle++
	} else {
		h.waiting = slices.DeleteFunc(h.waiting, func(x *build) bool { return x == b })
	}
	b.state = dropped
	delete(h.built, b.name)
	s.start(h)
}
