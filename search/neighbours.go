package search

import (
	"slices"

	"stenciltune/space"
)

// steps appends the points one parameter away: on an ordinal axis the nearest
// legal value on either side, on a choice every other value.
func (c *enumeration) steps(to []int, point int) []int {
	k, row := c.values(point)
	idx := widen(row)
	for i, p := range c.parts[k].family.Params {
		here := idx[i]
		if p.Ordinal {
			for _, d := range [2]int{-1, 1} {
				for v := here + d; v >= 0 && v < len(p.Values); v += d {
					idx[i] = v
					if q := c.find(k, idx); q >= 0 {
						to = append(to, q)
						break
					}
				}
			}
		} else {
			for v := range p.Values {
				idx[i] = v
				if q := c.find(k, idx); v != here && q >= 0 {
					to = append(to, q)
				}
			}
		}
		idx[i] = here
	}
	return to
}

// launches appends the points of a point's own source: those that differ in parameters of the
// launch alone.
func (c *enumeration) launches(to []int, point int) []int {
	k, row := c.values(point)
	idx := widen(row)
	params := c.parts[k].family.Params
	var vary func(i int)
	vary = func(i int) {
		for i < len(params) && !params[i].Launch {
			i++
		}
		if i == len(params) {
			if q := c.find(k, idx); q >= 0 && q != point {
				to = append(to, q)
			}
			return
		}
		here := idx[i]
		for v := range params[i].Values {
			idx[i] = v
			vary(i + 1)
		}
		idx[i] = here
	}
	vary(0)
	return to
}

// trades appends the points that two parameters away differ by one value each, or
// of which one has twice the value and the other half:
// what one gains the other may lose, as threads on x and y of a full block do;
// such pairs are often the only way past a constraint on a product. It also
// appends the same values in the other families, where they are legal.
func (c *enumeration) trades(to []int, point int) []int {
	k, row := c.values(point)
	idx := widen(row)
	params := c.parts[k].family.Params
	for i := range params {
		for j := range i {
			hereI, hereJ := idx[i], idx[j]
			try := func(a, b int) {
				if a < 0 || b < 0 || a >= len(params[i].Values) || b >= len(params[j].Values) {
					return
				}
				idx[i], idx[j] = a, b
				if q := c.find(k, idx); q >= 0 {
					to = append(to, q)
				}
				idx[i], idx[j] = hereI, hereJ
			}
			for _, d := range [4][2]int{{-1, 1}, {1, -1}, {-1, -1}, {1, 1}} {
				try(hereI+d[0], hereJ+d[1])
			}
			for _, d := range [2][2]int{{doubled(params[i], hereI), halved(params[j], hereJ)}, {halved(params[i], hereI), doubled(params[j], hereJ)}} {
				if up := d[0] - hereI; up*up != 1 || d[1]-hereJ != -up { // such were tried above
					try(d[0], d[1])
				}
			}
		}
	}
	for other := range c.parts {
		if other != k {
			if q := c.translate(k, idx, other); q >= 0 {
				to = append(to, q)
			}
		}
	}
	return to
}

// doubled is the place of twice a parameter's value, halved of half of it; -1 if there is none.
func doubled(p space.Param, at int) int {
	if !p.Ordinal || p.Values[at] < 1 {
		return -1
	}
	return slices.Index(p.Values, 2*p.Values[at])
}
func halved(p space.Param, at int) int {
	if !p.Ordinal || p.Values[at] < 1 || p.Values[at]%2 != 0 {
		return -1
	}
	return slices.Index(p.Values, p.Values[at]/2)
}

// translate is the point of another family with the same values where both have
// the parameter, and the first value elsewhere; -1 if that is not legal.
func (c *enumeration) translate(k int, idx []int, other int) int {
	from, onto := c.parts[k].family, c.parts[other].family
	v := make([]int, len(onto.Params))
	for i, p := range onto.Params {
		j := slices.IndexFunc(from.Params, func(q space.Param) bool { return q.Name == p.Name })
		if j < 0 {
			continue
		}
		at := slices.Index(p.Values, from.Params[j].Values[idx[j]])
		if at < 0 {
			return -1
		}
		v[i] = at
	}
	return c.find(other, v)
}

func widen(row []uint16) []int {
	idx := make([]int, len(row))
	for i, v := range row {
		idx[i] = int(v)
	}
	return idx
}
