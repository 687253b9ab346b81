package stencil

import (
	"runtime"
	"sync"
)

// Reference computes steps time steps of p from in (one value per cell, x
// fastest) in float64, one cell at a time, with no thought for speed beyond
// using all processors. It is the judge of every kernel. in is left as it was.
func Reference(p Problem, in []float64, steps int) []float64 {
	src := append([]float64(nil), in...)
	dst := make([]float64, len(in))
	for range steps {
		step(p, src, dst)
		src, dst = dst, src
	}
	return src
}

// step computes one time step from src into dst.
func step(p Problem, src, dst []float64) {
	n := p.Size
	rows := n[1] * n[2]
	workers := min(runtime.GOMAXPROCS(0), max(1, len(src)/4096))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			c := newCell(p.Stencil, n, src)
			for r := rows * w / workers; r < rows*(w+1)/workers; r++ {
				c.y, c.z = r%n[1], r/n[1]
				for c.x = 0; c.x < n[0]; c.x++ {
					dst[r*n[0]+c.x] = c.value()
				}
			}
		})
	}
	wg.Wait()
}

// cell evaluates a cell function: the syntax tree turned into closures once.
type cell struct {
	x, y, z int
	n       Size
	src     []float64
	locals  []float64
	body    []func() float64
	targets []int // local set by each statement, -1 for return
}

func newCell(s *Stencil, n Size, src []float64) *cell {
	c := &cell{n: n, src: src, locals: make([]float64, len(s.Body))}
	for _, st := range s.Body {
		switch st := st.(type) {
		case Let:
			c.targets = append(c.targets, st.Local)
			c.body = append(c.body, c.compile(st.Value))
		case Return:
			c.targets = append(c.targets, -1)
			c.body = append(c.body, c.compile(st.Value))
		}
	}
	return c
}

func (c *cell) value() float64 {
	for i, f := range c.body {
		v := f()
		if c.targets[i] < 0 {
			return v
		}
		c.locals[c.targets[i]] = v
	}
	panic("stencil: cell function without return")
}

func clampIndex(i, n int) int { return min(max(i, 0), n-1) }

func (c *cell) compile(e Expr) func() float64 {
	switch e := e.(type) {
	case Num:
		return func() float64 { return e.Value }
	case Local:
		return func() float64 { return c.locals[e.Index] }
	case Get:
		return func() float64 {
			x, y, z := clampIndex(c.x+e.At[0], c.n[0]), clampIndex(c.y+e.At[1], c.n[1]), clampIndex(c.z+e.At[2], c.n[2])
			return c.src[(z*c.n[1]+y)*c.n[0]+x]
		}
	case Neg:
		x := c.compile(e.X)
		return func() float64 { return -x() }
	case Binary:
		x, y := c.compile(e.X), c.compile(e.Y)
		switch e.Op {
		case '+':
			return func() float64 { return x() + y() }
		case '-':
			return func() float64 { return x() - y() }
		case '*':
			return func() float64 { return x() * y() }
		}
		return func() float64 { return x() / y() }
	case Call:
		f := mathFuncs[e.Func].eval
		x := c.compile(e.Args[0])
		y := func() float64 { return 0 }
		if len(e.Args) > 1 {
			y = c.compile(e.Args[1])
		}
		return func() float64 { return f(x(), y()) }
	}
	panic("stencil: unknown expression")
}
