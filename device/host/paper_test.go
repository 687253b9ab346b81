package host_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"stenciltune/device"
	"stenciltune/device/host"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// paperProblem is a program of the language's paper, from its file.
func paperProblem(t *testing.T, name string, size stencil.Size, scalars ...float64) stencil.Problem {
	t.Helper()
	st := stenciltest.File(t, filepath.Join("..", "..", "stencil", "testdata", name+".sl"))
	return stencil.Problem{Stencil: st, DType: st.DType, Size: size, Steps: 100, Scalars: scalars}
}

// single is a schedule of a step a launch, fused one of several, by dimensions.
var (
	single = map[int]string{1: "global/gx=64/gy=1/gz=1/wx=2/wy=1/wz=1/cw=0/zz=0/sp=0", 2: "global/gx=64/gy=4/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/sp=0"}
	fused  = map[int]string{1: "tile/gx=64/gy=1/gz=1/wx=4/wy=1/wz=1/cw=0/zz=0/ph=5", 2: "tile/gx=32/gy=8/gz=1/wx=1/wy=2/wz=1/cw=0/zz=0/ph=3"}
)

// comparePaper runs both schedules, twice each, and compares with the loop.
func comparePaper(t *testing.T, p stencil.Problem, loop func(d stencil.Data, steps int) []float64, tolerance float64) {
	d := open(t, host.Options{})
	var ks []kernels.Kernel
	for _, text := range []string{single[p.Stencil.Dims], fused[p.Stencil.Dims]} {
		s := spacetest.Schedule(t, text)
		ks = append(ks, kernels.Find(all.Families(), s.Family()).Kernel(p, s))
	}
	bs, err := d.CompileBatch(context.Background(), ks)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bs {
		for _, launches := range []int{1, 4} {
			passes := []device.Pass{{Binary: b, Launch: ks[i].Launch, Count: launches}}
			raw, err := d.Answer(context.Background(), p, passes, 5)
			if err != nil {
				t.Fatal(err)
			}
			want := loop(stencil.Start(p, 5), device.Steps(passes))
			if c := stencil.Compare(stencil.Widen(p.DType, raw), want, tolerance); !c.OK() {
				t.Errorf("%s, %d steps: %s", b.Schedule, device.Steps(passes), c.Reason(p.Size))
			}
		}
	}
}

// Figure 3 of the paper, in float as C computes it, the edge by EdgeValue: the nearest.
func TestHotspotOfThePaper(t *testing.T) {
	p := paperProblem(t, "Hotspot", stencil.Size{131, 45, 1}, 10, 7, 300)
	comparePaper(t, p, func(d stencil.Data, steps int) []float64 {
		nx, ny := p.Size[0], p.Size[1]
		rx, ry, rz := float32(10), float32(7), float32(300)
		temperature := make([]float32, nx*ny)
		for i, v := range d.Fields[0].Float {
			temperature[i] = float32(v)
		}
		for range steps {
			next := make([]float32, nx*ny)
			for y := range ny {
				for x := range nx {
					here := temperature[y*nx+x]
					north, south := temperature[max(y-1, 0)*nx+x], temperature[min(y+1, ny-1)*nx+x]
					west, east := temperature[y*nx+max(x-1, 0)], temperature[y*nx+min(x+1, nx-1)]
					sum := float32(d.ReadOnly[0].Float[y*nx+x]) + (south+north-here)/ry + (east+west-here)/rx + (80-here)/rz
					next[y*nx+x] = here + sum
				}
			}
			temperature = next
		}
		out := make([]float64, nx*ny)
		for i, v := range temperature {
			out[i] = float64(v)
		}
		return out
	}, 1e-4)
}

func TestPlateOfThePaperIsHeatedByItsEdge(t *testing.T) {
	p := paperProblem(t, "Plate", stencil.Size{67, 38, 1})
	comparePaper(t, p, func(d stencil.Data, steps int) []float64 {
		nx, ny := p.Size[0], p.Size[1]
		plate := d.Fields[0].Float
		for range steps {
			next := make([]float64, nx*ny)
			at := func(x, y int) float64 {
				switch {
				case y < 0:
					return 100
				case x < 0 || x >= nx:
					return plate[y*nx+min(max(x, 0), nx-1)] / 2
				case y >= ny:
					return 0
				}
				return plate[y*nx+x]
			}
			for y := range ny {
				for x := range nx {
					next[y*nx+x] = (at(x-1, y) + at(x+1, y) + at(x, y-1) + at(x, y+1)) / 4
				}
			}
			plate = next
		}
		return plate
	}, 1e-4)
}

func TestPathfinderOfThePaperReadsARowAStep(t *testing.T) {
	p := paperProblem(t, "Pathfinder", stencil.Size{1003, 1, 1})
	comparePaper(t, p, func(d stencil.Data, steps int) []float64 {
		n := p.Size[0]
		costs, best := d.ReadOnly[0].Int, d.Fields[0].Int
		if len(costs) < (steps+1)*n {
			t.Fatalf("%d costs for %d steps", len(costs), steps)
		}
		for step := 1; step <= steps; step++ {
			next := make([]int64, n)
			for x := range n {
				next[x] = costs[step*n+x] + min(best[max(x-1, 0)], best[x], best[min(x+1, n-1)])
			}
			best = next
		}
		out := make([]float64, n)
		sum := 0.0
		for i, v := range best {
			out[i] = float64(v)
			sum += math.Abs(out[i])
		}
		if sum == 0 {
			t.Error("all costs are 0: the test sees nothing")
		}
		return out
	}, 0)
}
