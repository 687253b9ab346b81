package stencil

import (
	"math"
	"os"
	"strings"
	"testing"
)

// plane is an array of a grid, read by the rule for what lies outside.
type plane struct {
	n    Size
	v    []float64
	rule Boundary
}

func (p plane) at(x, y int) float64 {
	i, j := p.rule.index(x, p.n[0]), p.rule.index(y, p.n[1])
	if p.rule == Constant && (i != x || j != y) {
		return 0
	}
	return p.v[j*p.n[0]+i]
}

// each computes a cell's new value everywhere.
func (p plane) each(f func(x, y int) float64) []float64 {
	out := make([]float64, len(p.v))
	for y := range p.n[1] {
		for x := range p.n[0] {
			out[y*p.n[0]+x] = f(x, y)
		}
	}
	return out
}

// around is the sum of the four neighbours.
func (p plane) around(x, y int) float64 {
	return p.at(x-1, y) + p.at(x+1, y) + p.at(x, y-1) + p.at(x, y+1)
}

func (p plane) inside(x, y int) bool { return x > 0 && y > 0 && x < p.n[0]-1 && y < p.n[1]-1 }

func minmodOf(a, b float64) float64 {
	switch {
	case a*b <= 0:
		return 0
	case math.Abs(a) < math.Abs(b):
		return a
	}
	return b
}

// yourLoops are the loops of docs/from-your-code.md: one time step of the fields f, with read-only arrays r.
var yourLoops = map[string]func(f, r []plane) [][]float64{
	"plate": func(f, _ []plane) [][]float64 {
		return [][]float64{f[0].each(func(x, y int) float64 {
			if !f[0].inside(x, y) {
				return f[0].at(x, y)
			}
			return 0.25 * f[0].around(x, y)
		})}
	},
	"conduction": func(f, r []plane) [][]float64 {
		t, k := f[0], r[0]
		return [][]float64{t.each(func(i, j int) float64 {
			return t.at(i, j) + 0.1*(0.5*(k.at(i+1, j)+k.at(i, j))*(t.at(i+1, j)-t.at(i, j))+0.5*(k.at(i-1, j)+k.at(i, j))*(t.at(i-1, j)-t.at(i, j))+
				0.5*(k.at(i, j+1)+k.at(i, j))*(t.at(i, j+1)-t.at(i, j))+0.5*(k.at(i, j-1)+k.at(i, j))*(t.at(i, j-1)-t.at(i, j)))
		})}
	},
	"acoustic": wave,
	"maxwell": func(f, _ []plane) [][]float64 {
		e, hx, hy := f[0], f[1], f[2]
		hx.v, hy.v = e.each(func(i, j int) float64 { return hx.at(i, j) - 0.5*(e.at(i, j+1)-e.at(i, j)) }),
			e.each(func(i, j int) float64 { return hy.at(i, j) + 0.5*(e.at(i+1, j)-e.at(i, j)) })
		return [][]float64{e.each(func(i, j int) float64 {
			return e.at(i, j) + 0.5*(hy.at(i, j)-hy.at(i-1, j)-hx.at(i, j)+hx.at(i, j-1))
		}), hx.v, hy.v}
	},
	"advection": func(f, _ []plane) [][]float64 {
		u := func(i int) float64 { return f[0].at(i, 0) }
		return [][]float64{f[0].each(func(i, _ int) float64 {
			right := u(i) + 0.5*(1-0.4)*minmodOf(u(i)-u(i-1), u(i+1)-u(i))
			left := u(i-1) + 0.5*(1-0.4)*minmodOf(u(i-1)-u(i-2), u(i)-u(i-1))
			return u(i) - 0.4*(right-left)
		})}
	},
	"reaction": func(f, _ []plane) [][]float64 {
		u, v := f[0], f[1]
		uvv := func(i, j int) float64 { return u.at(i, j) * v.at(i, j) * v.at(i, j) }
		return [][]float64{u.each(func(i, j int) float64 {
			return u.at(i, j) + 0.16*(u.around(i, j)-4*u.at(i, j)) - uvv(i, j) + 0.037*(1-u.at(i, j))
		}), v.each(func(i, j int) float64 {
			return v.at(i, j) + 0.08*(v.around(i, j)-4*v.at(i, j)) + uvv(i, j) - (0.037+0.06)*v.at(i, j)
		})}
	},
	"dilation": func(f, _ []plane) [][]float64 {
		return [][]float64{f[0].each(func(x, y int) (most float64) {
			for j := -1; j <= 1; j++ {
				for i := -1; i <= 1; i++ {
					most = max(most, f[0].at(x+i, y+j))
				}
			}
			return most
		})}
	},
	"life": func(f, _ []plane) [][]float64 {
		return [][]float64{f[0].each(func(x, y int) float64 {
			n := -f[0].at(x, y)
			for j := -1; j <= 1; j++ {
				for i := -1; i <= 1; i++ {
					n += f[0].at(x+i, y+j)
				}
			}
			return float64(bit(n == 3 || n == 2 && f[0].at(x, y) == 1))
		})}
	},
	"stretched": func(f, r []plane) [][]float64 {
		u, dx, dy := r[0], func(i int) float64 { return r[1].at(i, 0) }, func(j int) float64 { return r[2].at(j, 0) }
		return [][]float64{f[0].each(func(i, j int) float64 {
			e := (u.at(i+1, j) - u.at(i, j)) / (0.5 * (dx(i) + dx(i+1)))
			w := (u.at(i, j) - u.at(i-1, j)) / (0.5 * (dx(i-1) + dx(i)))
			n := (u.at(i, j+1) - u.at(i, j)) / (0.5 * (dy(j) + dy(j+1)))
			s := (u.at(i, j) - u.at(i, j-1)) / (0.5 * (dy(j-1) + dy(j)))
			return (e-w)/dx(i) + (n-s)/dy(j)
		})}
	},
	"shot": func() func(f, r []plane) [][]float64 {
		t := 0 // compared makes three steps from the beginning, again and again
		return func(f, r []plane) [][]float64 {
			p, old, v2, wavelet := f[0], f[1], r[0], r[1].v
			next := p.each(func(i, j int) float64 { return 2*p.at(i, j) - old.at(i, j) + v2.at(i, j)*(p.around(i, j)-4*p.at(i, j)) })
			if p.n[0] > 3 && p.n[1] > 2 {
				next[2*p.n[0]+3] += wavelet[t]
			}
			t = (t + 1) % 3
			return [][]float64{next, p.v}
		}
	}(),
	"srad": func(f, _ []plane) [][]float64 {
		J := f[0]
		rows, cols := min(128, J.n[1]), min(128, J.n[0])
		sum, sum2 := 0.0, 0.0
		for y := range rows {
			for x := range cols {
				sum += J.at(x, y)
				sum2 += J.at(x, y) * J.at(x, y)
			}
		}
		mean := sum / float64(rows*cols)
		q0 := (sum2/float64(rows*cols) - mean*mean) / (mean * mean)
		c := plane{J.n, J.each(func(x, y int) float64 {
			j := J.at(x, y)
			var G2, L float64
			for _, d := range []float64{J.at(x, y-1), J.at(x, y+1), J.at(x-1, y), J.at(x+1, y)} {
				G2 += (d - j) * (d - j) / (j * j)
				L += (d - j) / j
			}
			q := (0.5*G2 - L*L/16) / ((1 + 0.25*L) * (1 + 0.25*L))
			return min(max(1/(1+(q-q0)/(q0*(1+q0))), 0), 1)
		}), Clamp}
		return [][]float64{J.each(func(x, y int) float64 {
			own := c.at(x, y)
			d := own*(J.at(x, y-1)-J.at(x, y)) + c.at(x, y+1)*(J.at(x, y+1)-J.at(x, y)) +
				own*(J.at(x-1, y)-J.at(x, y)) + c.at(x+1, y)*(J.at(x+1, y)-J.at(x, y))
			return J.at(x, y) + 0.25*0.5*d
		}), nil, nil, nil, nil, nil}
	},
	"survey": wave,
	"melt": func(f, r []plane) [][]float64 {
		t, molten, k := f[0], f[1], r[0]
		next := t.each(func(i, j int) float64 {
			flow := k.at(i, j) * (t.around(i, j) - 4*t.at(i, j))
			if molten.at(i, j) != 0 {
				flow *= 0.5
			}
			return t.at(i, j) + flow
		})
		return [][]float64{next, molten.each(func(i, j int) float64 { return float64(bit(molten.at(i, j) != 0 || next[j*t.n[0]+i] > 1)) })}
	},
	"tank": tank,
	"relaxation": func(f, r []plane) [][]float64 {
		u := f[0]
		u.v = append([]float64(nil), u.v...)
		for colour := range 2 {
			for j := 1; j < u.n[1]-1; j++ {
				for i := 1; i < u.n[0]-1; i++ {
					if (i+j)%2 == colour { // in place
						u.v[j*u.n[0]+i] += 1.2 * (0.25*(u.around(i, j)-r[0].at(i, j)) - u.at(i, j))
					}
				}
			}
		}
		return [][]float64{u.v}
	},
}

// surveyed is what of survey.sl's loop comes after the cells, in step t from 0 on: wavelets are added, and traces kept.
func surveyed(t int, f, r []plane, shot, receivers SparseData) (trace []float64) {
	u, m := f[0], r[0]
	for s, at := range shot.Places {
		if at >= 0 && at < int64(len(u.v)) {
			u.v[at] += m.v[at] * shot.Table.Float[t*len(shot.Places)+s]
		}
	}
	for _, at := range receivers.Places {
		kept := 0.0
		if at >= 0 && at < int64(len(u.v)) {
			kept = u.v[at]
		}
		trace = append(trace, kept)
	}
	return trace
}

func TestYourLoopsComputeWhatTheirFilesSay(t *testing.T) {
	page, err := os.ReadFile("../docs/from-your-code.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("../examples/stencils")
	if err != nil || len(files) != len(yourLoops)+len(ofPractice) {
		t.Errorf("%d files, %d loops: %v", len(files), len(yourLoops), err)
	}
	for name, step := range yourLoops {
		text, err := os.ReadFile("../examples/stencils/" + name + ".sl")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```c\n"+string(text)+"```\n") {
			t.Errorf("the page does not show %s.sl as it is", name)
		}
		if got := sameFormatted(t, string(text)); got != string(text) {
			t.Errorf("%s is not in the layout of tune fmt:\n%s", name, got)
		}
		compared(t, mustParse(t, string(text)), step)
	}
}

// compared compares three steps of a stencil with those of a loop, on three grids.
func compared(t *testing.T, s *Stencil, step func(f, r []plane) [][]float64) {
	t.Helper()
	s.Until = nil // the loop is one step
	for _, n := range []Size{{9, 7, 1}, {1, 2, 1}, {4, 3, 1}} {
		if s.Dims == 1 {
			n[1] = 1
		}
		for a, least := range s.Least() {
			n[a] = max(n[a], least)
		}
		p := Problem{Stencil: s, DType: s.DType, Size: n}
		if s.DType.Floating() {
			p.DType = Float64
		}
		in := Start(p, 3)
		var f, r []plane
		for _, v := range in.Fields {
			f = append(f, plane{n, v.Floats(s.DType), s.Boundary})
		}
		for i, v := range in.ReadOnly {
			size := n
			if s.ReadOnly[i].Axis > 0 {
				size = Size{v.Len(), 1, 1}
			}
			r = append(r, plane{size, v.Floats(s.DType), Rule{Boundary: s.Boundary}.readOnly().Boundary})
		}
		var traces []float64
		for t := range 3 {
			for i, v := range step(f, r) {
				f[i].v = v
			}
			if len(s.Sparse) > 0 {
				traces = append(traces, surveyed(t, f, r, in.Sparse[0], in.Sparse[1])...)
			}
		}
		out := Run(p, in, 3)
		for _, got := range out.Records {
			nearly(t, got.Float[:len(traces)], traces)
		}
		for i, got := range out.Fields {
			if !s.Fields[i].Temporary {
				nearly(t, got.Floats(s.DType), f[i].v)
			}
		}
	}
}

// wave is the wave equation of fourth order in space: r[0] is the squared speed times the squared time step.
func wave(f, r []plane) [][]float64 {
	u, c := f[0], []float64{-2.5, 4.0 / 3, -1.0 / 12}
	return [][]float64{u.each(func(i, j int) float64 {
		lap := 2 * c[0] * u.at(i, j)
		for k := 1; k <= 2; k++ {
			lap += c[k] * (u.at(i-k, j) + u.at(i+k, j) + u.at(i, j-k) + u.at(i, j+k))
		}
		return 2*u.at(i, j) - f[1].at(i, j) + r[0].at(i, j)*lap
	}), u.v}
}
