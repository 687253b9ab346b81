package stencil

import (
	"math"
	"os"
	"testing"
)

// ofPractice are the files of examples/stencils that are not on the page, by name.
var ofPractice = map[string]func(f, r []plane) [][]float64{"obstacles": obstacles, "furnace": heated, "cavity": cavity, "dye": dyed}

// heated is one step of examples/stencils/furnace.sl: what flows through each face leaves one cell for the other.
func heated(f, r []plane) [][]float64 {
	t, k, wall, n := f[0], r[0], r[1], f[0].n
	out := append([]float64(nil), t.v...)
	for y := range n[1] {
		for x := range n[0] {
			for _, d := range [][2]int{{1, 0}, {0, 1}} {
				u, v := x+d[0], y+d[1]
				if u < n[0] && v < n[1] && wall.at(x, y) == 0 && wall.at(u, v) == 0 {
					flow := 0.1 * (k.at(x, y) + k.at(u, v)) / 2 * (t.at(x, y) - t.at(u, v))
					out[y*n[0]+x] -= flow
					out[v*n[0]+u] += flow
				}
			}
		}
	}
	return [][]float64{out}
}

// obstacles is one step of examples/stencils/obstacles.sl as a plain loop: populations are pushed to where they go, not pulled.
func obstacles(f, r []plane) [][]float64 {
	dx, dy := []int{0, 1, 0, -1, 0, 1, -1, -1, 1}, []int{0, 0, 1, 0, -1, 1, 1, -1, -1}
	n := f[0].n
	arrived := make([]plane, 9)
	for k := range arrived {
		arrived[k] = plane{n, make([]float64, len(f[k].v)), Wrap}
		for y := range n[1] {
			for x := range n[0] {
				arrived[k].v[Wrap.index(y+dy[k], n[1])*n[0]+Wrap.index(x+dx[k], n[0])] = f[k].at(x, y)
			}
		}
	}
	out := make([][]float64, 9)
	for k := range out {
		w := 1.0 / 36
		if dx[k]*dy[k] == 0 {
			w = 1.0 / 9
		}
		if k == 0 {
			w = 4.0 / 9
		}
		out[k] = f[0].each(func(x, y int) float64 {
			rho, mx, my := 0.0, 0.0, 0.0
			for j, a := range arrived {
				if r[0].at(x, y) > 0.5 && dx[j] == -dx[k] && dy[j] == -dy[k] {
					return a.at(x, y)
				}
				rho += a.at(x, y)
				mx += float64(dx[j]) * a.at(x, y)
				my += float64(dy[j]) * a.at(x, y)
			}
			ux, uy := mx/rho, my/rho
			along := 3 * (float64(dx[k])*ux + float64(dy[k])*uy)
			return arrived[k].at(x, y) + 1.2*(w*rho*(1+along+along*along/2-1.5*(ux*ux+uy*uy))-arrived[k].at(x, y))
		})
	}
	return out
}

// diffused is one step of peronamalik.
func diffused(f, _ []plane) [][]float64 {
	u := f[0]
	return [][]float64{u.each(func(x, y int) float64 {
		sum := 0.0
		for _, d := range []float64{u.at(x-1, y), u.at(x+1, y), u.at(x, y-1), u.at(x, y+1)} {
			d -= u.at(x, y)
			sum += d * math.Exp(-(d/0.3)*(d/0.3))
		}
		return u.at(x, y) + 0.2*sum
	})}
}

// waves is one step of shallowwater, a face at a time.
func waves(f, _ []plane) [][]float64 {
	n := f[0].n
	slope := func(q plane, x, y, dx, dy int) float64 {
		return minmodOf(q.at(x, y)-q.at(x-dx, y-dy), q.at(x+dx, y+dy)-q.at(x, y))
	}
	change := [3][]float64{}
	for i := range change {
		change[i] = append([]float64(nil), f[i].v...)
	}
	for y := range n[1] {
		for x := range n[0] {
			for axis := range 2 {
				dx, dy := 1-axis, axis
				next := Wrap.index(y+dy, n[1])*n[0] + Wrap.index(x+dx, n[0])
				var flux, state [2][3]float64
				speed := 0.0
				for side := range 2 {
					var q [3]float64
					for i := range 3 {
						cx, cy := x+side*dx, y+side*dy
						// Periodic: a cell beyond the edge is one inside, with its own slope.
						cx, cy = Wrap.index(cx, n[0]), Wrap.index(cy, n[1])
						q[i] = f[i].at(cx, cy) + (0.5-float64(side))*slope(f[i], cx, cy, dx, dy)
					}
					h, m := 1+q[0], q[1+axis]
					speed = max(speed, math.Abs(m/h)+math.Sqrt(h))
					flux[side] = [3]float64{m, q[1] * m / h, q[2] * m / h}
					flux[side][1+axis] += h * h / 2
					state[side] = [3]float64{h, q[1], q[2]}
				}
				for i := range 3 {
					through := (flux[0][i]+flux[1][i])/2 - speed/2*(state[1][i]-state[0][i])
					change[i][y*n[0]+x] -= 0.1 * through
					change[i][next] += 0.1 * through
				}
			}
		}
	}
	return change[:]
}

// carried is one step of weno5, by the formulas of Jiang and Shu as they stand.
func carried(f, _ []plane) [][]float64 {
	n := f[0].n
	face := func(a, b, c, d, e float64) float64 { // from the furthest upwind on
		square := func(v float64) float64 { return v * v }
		p := [3]float64{(2*a - 7*b + 11*c) / 6, (-b + 5*c + 2*d) / 6, (2*c + 5*d - e) / 6}
		s := [3]float64{13.0/12*square(a-2*b+c) + square(a-4*b+3*c)/4, 13.0/12*square(b-2*c+d) + square(b-d)/4, 13.0/12*square(c-2*d+e) + square(3*c-4*d+e)/4}
		sum, weights := 0.0, 0.0
		for i, ideal := range []float64{0.1, 0.6, 0.3} {
			w := ideal / square(1e-6+s[i])
			sum, weights = sum+w*p[i], weights+w
		}
		return sum / weights
	}
	rate := func(u plane, x, y int) float64 {
		total := 0.0
		for axis := range 2 {
			at := func(k int) float64 { return u.at(x+k*(1-axis), y+k*axis) }
			v := (float64(y)+0.5)/float64(n[1]) - 0.5
			if axis == 1 {
				v = 0.5 - (float64(x)+0.5)/float64(n[0])
			}
			through := func(k int) float64 {
				if v > 0 {
					return face(at(k-2), at(k-1), at(k), at(k+1), at(k+2))
				}
				return face(at(k+3), at(k+2), at(k+1), at(k), at(k-1))
			}
			total += v * (through(0) - through(-1))
		}
		return 0.4 * total
	}
	u := f[0]
	first := plane{n, u.each(func(x, y int) float64 { return u.at(x, y) - rate(u, x, y) }), Wrap}
	second := plane{n, u.each(func(x, y int) float64 { return 0.75*u.at(x, y) + 0.25*(first.at(x, y)-rate(first, x, y)) }), Wrap}
	return [][]float64{u.each(func(x, y int) float64 { return u.at(x, y)/3 + 2*(second.at(x, y)-rate(second, x, y))/3 })}
}

func TestProgramsOfPracticeComputeWhatPlainLoopsDo(t *testing.T) {
	for name, loop := range ofPractice {
		text, err := os.ReadFile("../examples/stencils/" + name + ".sl")
		if err != nil {
			t.Fatal(err)
		}
		compared(t, mustParse(t, string(text)), loop)
	}
	compared(t, lookup(t, "peronamalik"), diffused)
	compared(t, lookup(t, "shallowwater"), waves)
	compared(t, lookup(t, "weno5"), carried)
}
