package emit

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
)

// card is an H200 with all that the cost model asks of a device.
func card() machine.Machine {
	m := h200
	m.L2Bytes, m.ClockHz, m.MemoryClockHz, m.MemoryBusBits, m.CopyBytesPerSecond = 62914560, 1.98e9, 3.201e9, 6016, 4.15e12
	return m
}

// TestShapesAreNearTheBestOfAll takes winners of an H200 and random grids, odd rows and even, and compares what the source's
// shapes reach by the cost model with the best that tiles of any shape do. How near the model is, is another test's.
func TestShapesAreNearTheBestOfAll(t *testing.T) {
	const seed = 20261124
	r := rand.New(rand.NewPCG(seed, 1))
	for _, c := range []struct {
		stencil, schedule string
		dtype             stencil.DType
	}{
		{"jacobi3d", "stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1", stencil.Float32},
		{"jacobi3d", "stream/vx=2/vy=4/wp=8/ck=2/pf=4/mb=1/ph=4/pm=1", stencil.Float64},
		{"redblack", "pipeline/vx=2/vy=3/wp=12/ck=5/pf=2/mb=1/ph=2", stencil.Float32},
		{"redblack", "pipeline/vx=2/vy=3/wp=8/ck=5/pf=2/mb=1/ph=2", stencil.Float64},
		{"jacobi2d", "stream/vx=8/vy=1/wp=1/ck=8/pf=4/mb=1/ph=10/sm=132/pm=1", stencil.Float32},
		{"jacobi2d", "stream/vx=4/vy=1/wp=1/ck=16/pf=4/mb=1/ph=10/sm=132/pm=1", stencil.Float64},
	} {
		tuned := stencil.Size{512, 512, 512}
		if strings.HasSuffix(c.stencil, "2d") {
			tuned = stencil.Size{16384, 16384, 1}
		}
		s := sourceOf(t, c.stencil, c.dtype, tuned, c.schedule, card())
		for _, odd := range []int{0, 1} {
			p := s.Problem.Resized(stencil.Size{tuned[0] + odd, tuned[1], tuned[2]})
			own, ok := s.shape(s.Configs[0], p, mustSchedule(t, c.schedule))
			if !ok {
				t.Fatal(c)
			}
			others, all := s.others(s.Configs[0], p, own), s.alike(s.Configs[0], p, own)
			var alone, reached []float64
			for len(reached) < 300 {
				var n stencil.Size
				for a := range n {
					n[a] = int(128 * math.Pow(2, 4*r.Float64()))
				}
				least := int64(1 << 23)
				if tuned[2] == 1 {
					n, least = stencil.Size{n[0] * 8, n[1] * 8, 1}, 1<<21
				}
				if g := p.Resized(n); n.Cells() > least && n.Cells() < 1<<31-1<<24 && n[0] >= own.tiling.Hold[0] && n[1] >= own.tiling.Hold[1] {
					chosen := own
					for _, one := range others {
						if one.on(g) < chosen.on(g) {
							chosen = one
						}
					}
					time := chosen.on(g)
					if chosen.schedule != own.schedule {
						time /= doubt
					}
					best := own.on(g)
					for _, one := range all {
						best = min(best, one.on(g))
					}
					alone, reached = append(alone, best/own.on(g)), append(reached, best/time)
				}
			}
			slices.Sort(alone)
			slices.Sort(reached)
			t.Logf("%s %s, rows %d: %d shapes more; of the best shape's speed at least %.2f, of 95 %% of grids %.2f, median %.2f; alone %.2f, %.2f, %.2f", c.stencil, c.dtype, p.Size[0],
				len(others), reached[0], reached[15], reached[150], alone[0], alone[15], alone[150])
			if len(others) > maxShapes || reached[15] < 0.9 || reached[150] < 0.97 || reached[15] < min(0.97, alone[15]+0.02) {
				t.Errorf("%s %s, rows %d, seed %d: see above", c.stencil, c.dtype, p.Size[0], seed)
			}
		}
	}
}

// TestPlaneStepsTellTheTime compares times that are reckoned by plane steps with those that an H200 took for emitted sources,
// each to the median of its stencil and type: by how much all of a stencil's are off changes no choice. Pipelines that load one plane ahead are
// apart: they are reckoned as if all copied alike.
func TestPlaneStepsTellTheTime(t *testing.T) {
	f, err := os.Open("../bench/h200/emitted.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	of, oneAhead := map[string][]float64{}, []float64{}
	var schedule string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), "# "); found {
			schedule, _, _ = strings.Cut(text, ": ")
			continue
		}
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.Split(words[0], "/")
		var n stencil.Size
		var ns float64
		if _, err := fmt.Sscanf(name[4], "%dx%dx%d", &n[0], &n[1], &n[2]); err != nil { // in 2D most rows are older than its stream tiles
			continue
		}
		if _, err := fmt.Sscan(words[2], &ns); err != nil {
			t.Fatal(err)
		}
		s := sourceOf(t, name[1], stencil.DType(name[2]), stencil.Size{512, 512, 512}, schedule, card())
		p := s.Problem.Resized(stencil.Size{512 + n[0]%2, 512, 512})
		if one, ok := s.shape(s.Configs[0], p, mustSchedule(t, schedule)); ok && n.Cells() < 1<<31-1<<24 {
			ratio, what := 1e9*one.on(p.Resized(n))/ns, name[1]+"/"+name[2]
			if strings.HasPrefix(schedule, "pipeline/") && strings.Contains(schedule, "/pf=1/") {
				oneAhead = append(oneAhead, ratio)
			} else {
				of[what] = append(of[what], ratio)
			}
		}
	}
	var ratios []float64
	for what, of := range of {
		slices.Sort(of)
		middle := of[len(of)/2]
		t.Logf("%s: %d rows, reckoned over measured %.2f in the median", what, len(of), middle)
		for _, r := range of {
			ratios = append(ratios, r/middle)
		}
	}
	slices.Sort(ratios)
	slices.Sort(oneAhead)
	t.Logf("%.2f; pipelines one plane ahead, not to their median: %.2f", ratios, oneAhead)
	if len(ratios) < 25 || ratios[len(ratios)/10] < 0.88 || ratios[len(ratios)-1-len(ratios)/10] > 1.12 {
		t.Errorf("%d rows", len(ratios))
	}
	if len(oneAhead) == 0 || oneAhead[0] < 0.75 || oneAhead[len(oneAhead)-1] > 1.25 {
		t.Error("pipelines one plane ahead")
	}
}

func mustSchedule(t testing.TB, text string) space.Schedule {
	t.Helper()
	return spacetest.Schedule(t, text)
}
