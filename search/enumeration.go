package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"stenciltune/space"
)

// enumeration is a space listed once: every legal schedule is a point, numbered in
// the space's canonical order, and stored as the small indices of its values.
type enumeration struct {
	space *space.Space
	parts []part
	size  int
	prior []float64 // log of the predicted seconds, NaN where there is none; nil without a prior
	kinds int       // parts that the prior tells apart; 0 = none
	share []float32 // size x kinds shares of the predicted seconds

	once    sync.Once
	ranking []int32 // by prior, made by byPrior
}

// part is the points of one family.
type part struct {
	family *space.Family
	first  int      // the first point's number
	size   int      // how many points
	width  int      // parameters of the family
	index  []uint16 // size x width value indices
	code   []uint64 // the indices as one mixed-radix number, ascending
}

// Fits tells why a space is none that can be searched, or nil: points are numbered in 63 bits,
// a parameter's values in 16. Those of our families are far below; a recording of another
// program's may be anything.
func Fits(s *space.Space) error {
	if s.Raw() == math.MaxInt {
		return errors.New("the product of its values has no number of 63 bits")
	}
	for _, f := range s.Families() {
		for _, p := range f.Params {
			if len(p.Values) > 1<<16 {
				return fmt.Errorf("%s has %d values, more than %d", p.Name, len(p.Values), 1<<16)
			}
		}
	}
	return nil
}

func enumerate(s *space.Space, prior Prior, parts Parts) *enumeration {
	c := &enumeration{space: s}
	if prior != nil {
		c.ask(prior, parts)
	}
	for _, f := range s.Families() {
		c.parts = append(c.parts, part{family: f, width: len(f.Params)})
	}
	k := 0
	for sc := range s.All() {
		// All yields family after family: a new one starts where the name changes.
		for c.parts[k].family.Name != sc.Family() {
			k++
			c.parts[k].first = c.size
		}
		p := &c.parts[k]
		idx, _ := p.family.Encode(sc)
		for _, v := range idx {
			p.index = append(p.index, uint16(v))
		}
		p.code = append(p.code, p.number(idx))
		p.size++
		c.size++
	}
	for k := range c.parts {
		if c.parts[k].size == 0 && k > 0 {
			c.parts[k].first = c.parts[k-1].first + c.parts[k-1].size
		}
	}
	return c
}

// ask asks the prior for every schedule, and for its parts.
func (c *enumeration) ask(prior Prior, parts Parts) {
	all := slices.Collect(c.space.All())
	c.prior = space.Each(all, func(sc space.Schedule) float64 { return logSeconds(prior(sc)) })
	if parts == nil || len(all) == 0 {
		return
	}
	c.kinds = len(parts(all[0]))
	c.share = make([]float32, 0, len(all)*c.kinds)
	for _, u := range space.Each(all, func(sc space.Schedule) []float32 { return shares(parts(sc)) }) {
		c.share = append(c.share, u...)
	}
}

// shares are those of a point.
func (c *enumeration) shares(point int) []float32 { return c.share[point*c.kinds : (point+1)*c.kinds] }

// logSeconds is NaN for a time that is no time.
func logSeconds(t float64) float64 {
	if !(t > 0) || math.IsInf(t, 1) {
		return math.NaN()
	}
	return math.Log(t)
}

// number is the mixed-radix number of value indices. A family of more than 2^64
// raw points would wrap; enumerating one would never end.
func (p *part) number(idx []int) uint64 {
	n := uint64(0)
	for i, v := range idx {
		n = n*uint64(len(p.family.Params[i].Values)) + uint64(v)
	}
	return n
}

// find is the point with these value indices in family k, or -1 if it is not legal.
func (c *enumeration) find(k int, idx []int) int {
	p := &c.parts[k]
	n := p.number(idx)
	i := sort.Search(p.size, func(i int) bool { return p.code[i] >= n })
	if i < p.size && p.code[i] == n {
		return p.first + i
	}
	return -1
}

// locate is the point of a schedule, or -1 if it is not in the space.
func (c *enumeration) locate(sc space.Schedule) int {
	if sc.IsZero() {
		return -1
	}
	for k := range c.parts {
		if c.parts[k].family.Name == sc.Family() {
			if idx, ok := c.parts[k].family.Encode(sc); ok {
				return c.find(k, idx)
			}
		}
	}
	return -1
}

// part is the number of the family of a point.
func (c *enumeration) part(point int) int {
	k := 0
	for point >= c.parts[k].first+c.parts[k].size {
		k++
	}
	return k
}

// values are the value indices of a point, and its family.
func (c *enumeration) values(point int) (int, []uint16) {
	k := c.part(point)
	p := &c.parts[k]
	at := (point - p.first) * p.width
	return k, p.index[at : at+p.width]
}

// source tells kernels' sources apart: a family, and the value indices that are not of the
// launch alone.
type source struct {
	part int
	code uint64
}

// source is that of a point.
func (c *enumeration) source(point int) source {
	k, row := c.values(point)
	idx := make([]int, len(row))
	for i, p := range c.parts[k].family.Params {
		if !p.Launch {
			idx[i] = int(row[i])
		}
	}
	return source{k, c.parts[k].number(idx)}
}

// schedule writes a point out.
func (c *enumeration) schedule(point int) space.Schedule {
	k, row := c.values(point)
	f := c.parts[k].family
	v := make([]int, len(row))
	for i, x := range row {
		v[i] = f.Params[i].Values[x]
	}
	return space.Make(f.Name, f.Params, v)
}

// predicted is the log of the seconds the prior gives a point, +Inf if it gives none.
func (c *enumeration) predicted(point int) float64 {
	if c.prior == nil || math.IsNaN(c.prior[point]) {
		return math.Inf(1)
	}
	return c.prior[point]
}

// hasPrior tells whether the prior ranks anything at all.
func (c *enumeration) hasPrior() bool {
	first := math.NaN()
	for _, p := range c.prior {
		switch {
		case math.IsNaN(p):
		case math.IsNaN(first):
			first = p
		case p != first:
			return true
		}
	}
	return false
}
