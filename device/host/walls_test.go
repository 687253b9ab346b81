package host_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/verify"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// channelLoop is examples/walls/channel.sl as a loop of its own.
func channelLoop(f [][]float64, nx, ny int) [][]float64 {
	next := [][]float64{make([]float64, nx*ny), make([]float64, nx*ny)}
	at := func(a, x, y int) float64 {
		if y < 0 || y >= ny {
			return 0
		}
		return f[a][y*nx+(x+nx)%nx]
	}
	for y := range ny {
		for x := range nx {
			u, v := at(0, x, y), at(1, x, y)
			for a := range next {
				w := at(a, x, y)
				moved := u*(w-at(a, x-1, y)) + v*(w-at(a, x, y-1))
				spread := at(a, x-1, y) + at(a, x+1, y) + at(a, x, y-1) + at(a, x, y+1) - 4*w
				next[a][y*nx+x] = w - 0.2*moved + 0.1*spread
			}
			next[0][y*nx+x] += 0.001
		}
	}
	return next
}

// cavityLoop is examples/walls/cavity.sl as loops of its own: H from E between the walls, then E but for the wall's cells.
func cavityLoop(f [][]float64, nx, ny int) [][]float64 {
	ez, hx, hy := f[0], f[1], f[2]
	for y := range ny {
		for x := range nx {
			i, up, right := y*nx+x, 0.0, 0.0
			if y+1 < ny {
				up = ez[i+nx]
			}
			if x+1 < nx {
				right = ez[i+1]
			}
			hx[i] -= 0.5 * (up - ez[i])
			hy[i] += 0.5 * (right - ez[i])
		}
	}
	for y := 1; y < ny; y++ {
		for x := 1; x < nx; x++ {
			i := y*nx + x
			ez[i] += 0.5 * (hy[i] - hy[i-1] - hx[i] + hx[i-nx])
		}
	}
	return f
}

func walls(t *testing.T, name string) stencil.Problem {
	t.Helper()
	return stencil.Problem{Stencil: stenciltest.File(t, "../../examples/walls/"+name+".sl"), DType: stencil.Float32}
}

func TestWallsAreWhatALoopSays(t *testing.T) {
	for name, loop := range map[string]func([][]float64, int, int) [][]float64{"channel": channelLoop, "cavity": cavityLoop} {
		p := walls(t, name)
		p.Size = stencil.Size{23, 11, 1}
		start := stencil.Start(p, 3)
		var f [][]float64
		for _, v := range start.Fields {
			f = append(f, append([]float64(nil), v.Float...))
		}
		const steps = 9
		for range steps {
			f = loop(f, p.Size[0], p.Size[1])
		}
		for a, got := range stencil.Run(p, start, steps).Fields {
			for i, want := range f[a] {
				if math.Abs(got.Float[i]-want) > 1e-7 {
					t.Fatalf("%s: field %d, cell %d is %v, by the loop %v", name, a, i, got.Float[i], want)
				}
			}
		}
	}
}

// What lies beyond a side of one field may be anything that lies beyond no other; streaming kernels want all mirrored, or none.
var thickWalls = []string{
	"NumDimensions 3 StencilSize (1, 1, 2) Fields (u, v) ReadOnly (k) Boundary (wrap, (constant 2, fixed), (mirror, clamp)) Boundary v z (constant 1, fixed) " +
		"Boundary k y mirror EdgeValue u z high { return 0.5 * value + 0.01 * (x + iteration); } " +
		"CellValue { return 0.2 * (get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, 1, 0) + get(v, 0, 0, -2) + get(k, 0, 1, 1)), 0.3 * (get(v, 0, -1, 0) + get(v, 0, 0, 2) + get(u, 0, 0, 0)) + 0.1 * get(k, -1, -1, 0); }",
	"NumDimensions 3 StencilSize (1, 1, 2) Fields (u, v) ReadOnly (k) Boundary (wrap, (constant 2, fixed), (mirror, clamp)) Boundary v z (mirror, fixed) EdgeValue u y high { return 0.5 * value + 0.01 * (x + iteration); } " +
		"CellValue { return 0.2 * sin(get(u, -1, 0, 0) + get(u, 1, 0, 0) + get(u, 0, 1, 0) + get(v, 0, 0, -2) + get(k, 0, 1, 1)), 0.3 * (get(v, 0, -1, 0) + get(v, 0, 0, 2) + get(u, 0, 0, 0)) + 0.1 * get(k, -1, -1, 0); }",
	"NumDimensions 3 StencilSize (2, 1, 1) Fields (u, v) Boundary ((fixed, constant 1), wrap, (constant 2, clamp)) Boundary v z wrap Boundary u z wrap " +
		"CellValue { return 0.2 * sin(get(u, -2, 0, 0) + get(u, 1, 1, 0) + get(v, 0, -1, 1)), 0.3 * (get(v, 0, 0, -1) + get(v, 2, 0, 0)) + 0.1 * get(u, 0, -1, 0) + 0.01 * y; }",
	"NumDimensions 2 StencilSize (2, 2) Fields (u, v) Boundary ((mirror, constant 1), (fixed, mirror)) Boundary v x (mirror, fixed) " +
		"CellValue { return 0.2 * sin(get(u, -1, 0) + get(u, 1, 1) + get(v, 0, -1)), 0.3 * (get(v, 0, 2) + get(v, 2, 0)) + 0.1 * get(u, 0, -1); }",
	"NumDimensions 1 StencilSize (2) Boundary x (fixed, constant 1) CellValue { return 0.5 * sin(get(-1) + get(2)); }",
}

func TestWallsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	source, r := verify.NewSource(d.Machine(), all.Families()), rand.New(rand.NewPCG(drawnSeed(t), 8))
	problems := []stencil.Problem{walls(t, "channel"), walls(t, "cavity")}
	for _, text := range thickWalls {
		problems = append(problems, stencil.Problem{Stencil: stenciltest.Parse(t, "thick", text), DType: stencil.Float32})
	}
	var cases []verify.Case
	for i, p := range problems {
		able, _ := source.Able(p)
		for _, f := range able {
			if i >= 2 && f.Name() != "pipeline" && f.Name() != "sweep" { // the others have random rules in another test
				continue
			}
			if r.IntN(2) == 0 { // half of them in each run
				cases = append(cases, source.Draw(r, p, f))
			}
		}
	}
	devicetest.Check(t, d, cases)
}
