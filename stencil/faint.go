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

	at Point
}

// faintWork bounds the reads by which faint points are looked for (some seconds), faintCells the grids.
const (
	faintWork  = 3e8
	faintCells = 1 << 16
)

// FaintPoints lists the points that move no cell by more than rounding may, when the next cell on x is read in
// their place. There are none of integers, which are exact; and none are looked for where there are too many.
func FaintPoints(p Problem) []Faint {
	if m := p.Stencil.marked(); m != nil { // which reads short arrays as the file does
		p.Stencil = m
	}
	p = p.around()
	list := p.points()
	all := len(list)
	if !p.DType.Floating() {
		return nil
	}
	// A point that acts through a minimum or a condition acts in few cells or steps: larger grids and longer runs are to show
	// it. Every other run is one step, for a minimum of minima has each value in several ways.
	work := 0.0
	for n := 1; len(list) > 0; n++ {
		steps := 1
		if n%2 == 1 {
			steps = n + 1
		}
		work += float64((len(list)+4)*all*steps) * float64(p.Size.Cells())
		if n == 1 && work > faintWork {
			return nil
		} else if n > 1 && work > faintWork/3 {
			break
		}
		p.move(list, Start(p, uint32(n)), steps)
		list = slices.DeleteFunc(list, func(f Faint) bool { return f.Share > 1 })
		for a := range p.Stencil.Dims {
			if p.Size.Cells() < faintCells {
				p.Size[a] *= 2
			}
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

// points are all points that are read.
func (p Problem) points() (list []Faint) {
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
	for _, at := range slices.Compact(points) {
		list = append(list, Faint{Point: s.reads(at), at: at})
	}
	return list
}

// move raises each point's share to that by which a wrong one shows after so many steps from the given data.
func (p Problem) move(list []Faint, d Data, steps int) {
	v, _ := judge(p, p.Size, d, steps, nil, 1)
	for i := range list {
		moved, _ := p.answer(d, steps, func(r *run) { r.wrongAt = &list[i].at })
		for c, w := range v.Want {
			if by := math.Abs(moved[c] - w); by > 0 {
				if share := by / v.Bound[c]; share > list[i].Share { // not of a cell whose number and bound are both infinite
					list[i].Share = share
				}
			}
		}
	}
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
