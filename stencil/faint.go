package stencil

import (
	"fmt"
	"math"
	"slices"
)

// Faint is a point that may be read wrongly without a check's knowing.
type Faint struct {
	Point string  `json:"point"` // as a file reads it: get(p, 4, 0, 0)
	Share float64 `json:"share"` // of the bound, that the next cell's value in its place moves an answer
}

// faintWork bounds the reads by which faint points are looked for: some seconds.
const faintWork = 3e8

// FaintPoints lists the points that move no cell by more than rounding may, when the next cell on x is read in
// their place. There are none of integers, which are exact; and none are looked for where there are too many.
func FaintPoints(p Problem) []Faint {
	p = p.around()
	var list []Faint
	for _, f := range p.points(Start(p, 1)) {
		if f.Share <= 1 {
			list = append(list, f)
		}
	}
	return list
}

// around is the problem on a grid that has cells that reach no edge, and some that do.
func (p Problem) around() Problem {
	p.Size = Size{1, 1, 1}
	for a := range p.Stencil.Dims {
		p.Size[a] = p.Stencil.Low[a] + p.Stencil.High[a] + 4
	}
	return p
}

// points are all points that are read, from the given data, and by how much a wrong one shows.
func (p Problem) points(d Data) []Faint {
	s := p.Stencil
	var points []Point
	for _, st := range s.Stages {
		walkBody(st.Body, func(e Expr) {
			switch e := e.(type) {
			case Get:
				points = append(points, Point{e.Field, e.At})
			case Read:
				points = append(points, Point{len(s.Fields) + e.Array, e.At})
			}
		})
	}
	slices.SortFunc(points, comparePoints)
	points = slices.Compact(points)
	const steps = 2
	if !p.DType.Floating() || float64(len(points)*len(points))*float64(p.Size.Cells())*steps > faintWork {
		return nil
	}
	v, _ := judge(p, p.Size, d, steps, nil, 1)
	var list []Faint
	for _, at := range points {
		moved, _ := p.answer(d, steps, func(r *run) { r.wrongAt = &at })
		share := 0.0
		for i, w := range v.Want {
			if by := math.Abs(moved[i] - w); by > 0 {
				share = max(share, by/v.Bound[i])
			}
		}
		list = append(list, Faint{s.reads(at), share})
	}
	return list
}

// reads is a point as a file reads it.
func (s *Stencil) reads(p Point) string {
	at, name := p.At.text(s.Dims), ""
	if a := p.Array - len(s.Fields); a >= 0 {
		name = s.ReadOnly[a].Name
	} else if len(s.Fields) > 1 {
		name = s.Fields[p.Array].Name
	}
	if name == ReadName {
		return "read(the own cell)"
	}
	if name != "" {
		at = name + ", " + at
	}
	return fmt.Sprintf("get(%s)", at)
}
