package search

import (
	"slices"

	"stenciltune/timing"
)

// Which launch is the best differs from source to source, by jumps: it is one whose blocks fill the
// device's waves. So a source that looks bad with the launch of the best may be better than its, and the way
// from one to the other leads over schedules that are slower than both.

// sourceFar is the log seconds above the best beyond which a source beside its own is not worth a look: there
// times are compressed.
const sourceFar = 1

// beside is a launch of a source of which nothing was tried, next to that of a point by an exchange of two
// parameters: the launch that is the best by the prior, by what was learned if that is not believed, and without a prior
// the point's own. -1 if there is none.
func (b *brain) beside(point int) int {
	tried := b.sources()
	for _, q := range b.trades(nil, point) {
		if s := b.source(q); tried[s] || !b.exchanged(point, q) {
			continue
		}
		of := []int{q}
		switch {
		case b.f.z == nil:
		case b.trust < trusted:
			of = b.launches(of, q)
		default:
			for _, l := range b.launches(nil, q) {
				if b.f.z[l] < b.f.z[of[0]] {
					of[0] = l
				}
			}
		}
		if best := b.promising(of, sourceFar); best >= 0 {
			return best
		}
		tried[b.source(q)] = true
	}
	return -1
}

// sources are those of which a schedule was proposed.
func (b *brain) sources() map[source]bool {
	tried := map[source]bool{}
	for q := range b.at {
		tried[b.source(q)] = true
	}
	for q := range b.pending {
		tried[b.source(q)] = true
	}
	for _, q := range b.valid.bad {
		tried[b.source(int(q))] = true
	}
	return tried
}

// exchanged tells whether one of two points of a family is as many steps up in some parameters as it is
// down in others, or as many times as large: tiles of the same size have another shape.
func (c *enumeration) exchanged(p, q int) bool {
	k, from := c.values(p)
	l, to := c.values(q)
	if k != l {
		return false
	}
	sum, before, after := 0, 1, 1
	for i, p := range c.parts[k].family.Params {
		sum += int(to[i]) - int(from[i])
		if to[i] != from[i] {
			before, after = before*p.Values[from[i]], after*p.Values[to[i]]
		}
	}
	return sum == 0 || before == after
}

// relaunch is an untried launch of a source that is slower than the best by no more than the launches of the
// best's own source differ, in the median; -1 if there is none.
func (b *brain) relaunch(point int) int {
	var slower []float64
	for _, q := range b.launches(nil, point) {
		if i, timed := b.at[q]; timed {
			slower = append(slower, b.timed[i].log-b.timed[b.best].log)
		}
	}
	if len(slower) == 0 {
		return -1
	}
	slices.Sort(slower)
	far := b.timed[b.best].log + timing.Median(slower)
	done := map[source]bool{}
	for _, t := range b.byTime() {
		p := b.timed[t].point
		if b.timed[t].log > far {
			break
		}
		if s := b.source(p); !done[s] {
			done[s] = true
			for _, q := range b.launches(nil, p) {
				if !b.taken[q] {
					return q
				}
			}
		}
	}
	return -1
}
