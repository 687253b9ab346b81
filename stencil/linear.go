package stencil

import (
	"math"
	"sync"
)

// linear is what Linear gives.
type linear struct {
	weights  map[Offset]float64
	constant float64
	ok       bool
}

// sums are those of stencils seen before: a model asks for each schedule.
var sums sync.Map // *Stencil to linear

// Linear gives the cell function as constant + the sum of weight times point, if
// it is one but for the cells that it holds (Held): then a kernel may add its points in any order or in parts. The
// weights are computed in float64; a point whose weights cancel is not listed. It
// is not ok where a weight is not finite or where no point is left. The map is everybody's: it is read, not changed.
func (s *Stencil) Linear() (weights map[Offset]float64, constant float64, ok bool) {
	known, seen := sums.Load(s)
	if !seen {
		weights, constant, ok := s.sum()
		known, _ = sums.LoadOrStore(s, linear{weights, constant, ok})
	}
	l := known.(linear)
	return l.weights, l.constant, l.ok
}

func (s *Stencil) sum() (weights map[Offset]float64, constant float64, ok bool) {
	if len(s.Fields) != 1 || len(s.Stages) != 1 || !s.DType.Floating() {
		return nil, 0, false
	}
	l := splitter{s: s, locals: map[int]form{}, own: -1}
	body, _ := s.holds()
	for _, st := range body {
		switch st := st.(type) {
		case Let:
			f, other := l.assigned(st)
			if other != nil {
				return nil, 0, false
			}
			l.locals[st.Local] = f
		case Return:
			f, other := l.value(st.Values[0])
			if other != nil || !finite(f.constant) {
				return nil, 0, false
			}
			weights = map[Offset]float64{}
			for p, w := range f.weights {
				if p.Array != 0 || !finite(w) {
					return nil, 0, false
				}
				if w != 0 {
					weights[p.At] = w
				}
			}
			return weights, f.constant, len(weights) > 0
		default:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
