package searchtest

import (
	"math"

	"stenciltune/space"
	"stenciltune/timing"
)

// Jagged is a landscape of about 15,000 schedules in two families: a bowl on log
// scales, interactions, a random factor for every value of the unrolling
// parameters (cliffs), a fine random factor for every schedule, and a corner in
// which schedules fail that the space does not know of. It comes with its smooth
// part, from which priors are made. Landscapes of other numbers are other draws.
func Jagged(number uint64) (*Landscape, func(space.Schedule) float64) {
	pow := func(lo, hi int) []int {
		var v []int
		for x := lo; x <= hi; x *= 2 {
			v = append(v, x)
		}
		return v
	}
	ordinal := func(name string, values ...int) space.Param {
		return space.Param{Name: name, Doc: "synthetic", Values: values, Ordinal: true}
	}
	choice := func(name string, values ...int) space.Param {
		return space.Param{Name: name, Doc: "synthetic", Values: values}
	}
	threads := space.Constraint{Name: "threads", Needs: []string{"gx", "gy"}, Why: "a block has 64 to 1024 threads",
		OK: func(v space.Values) bool {
			n := v.Get("gx") * v.Get("gy")
			return n >= 64 && n <= 1024
		}}
	column := space.Constraint{Name: "column", Needs: []string{"gx", "wx", "cw"}, Why: "a column holds whole tiles",
		OK: func(v space.Values) bool {
			return v.Get("cw") == 0 || v.Get("cw")%(v.Get("gx")*v.Get("wx")) == 0
		}}
	tile := &space.Family{Name: "tile",
		Params: []space.Param{
			ordinal("gx", pow(8, 256)...), ordinal("gy", pow(1, 32)...),
			ordinal("wx", 1, 2, 4), ordinal("wy", 1, 2, 3, 4, 6, 8),
			ordinal("cw", 0, 64, 128, 512), choice("load", 0, 1, 2),
		},
		Constraints: []space.Constraint{threads, column},
	}
	stream := &space.Family{Name: "stream",
		Params: []space.Param{
			ordinal("gx", pow(16, 256)...), ordinal("gy", pow(1, 16)...),
			ordinal("wx", 1, 2, 4), ordinal("wy", 1, 2, 3, 4),
			ordinal("chunk", 16, 24, 32, 48, 96, 256), ordinal("ph", 1, 2, 3, 4), choice("fetch", 0, 1),
		},
		Constraints: []space.Constraint{threads},
	}
	l := &Landscape{Name: "jagged", Space: space.New(tile, stream), Noise: 0.005, Seed: number}

	at := func(s space.Schedule, name string, lo, hi float64) float64 {
		v := float64(s.Int(name, 0)) + 0.5
		return math.Log(v/lo) / math.Log(hi/lo)
	}
	where := func(family string, k uint64) float64 { return 0.2 + 0.6*uniform(family, number*31+k, "bowl") }
	smooth := func(s space.Schedule) float64 {
		f := s.Family()
		x := []float64{at(s, "gx", 8, 256), at(s, "gy", 1, 32), at(s, "wx", 1, 4), at(s, "wy", 1, 8)}
		if f == "tile" {
			x = append(x, at(s, "cw", 0.5, 512))
		} else {
			x = append(x, at(s, "chunk", 16, 256), at(s, "ph", 1, 4))
		}
		e := 0.0
		for i, v := range x {
			d := v - where(f, uint64(i))
			e += d * d * (0.6 + 1.2*uniform(f, number*31+uint64(i), "weight"))
		}
		// An interaction: threads times work has a best size.
		d := x[0] + x[1] + x[2] + x[3] - 4*where(f, 17)
		e += 0.3 * d * d
		if f == "stream" {
			e -= 0.15
		}
		return 1e-3 * math.Exp(e)
	}
	l.True = func(s space.Schedule) (float64, timing.Status) {
		// A corner whose registers do not fit, which no constraint names.
		if s.Int("wx", 1)*s.Int("wy", 1)*s.Int("ph", 1) >= 48 {
			return 0, timing.LaunchError
		}
		if uniform(s.String(), number, "fails") < 0.01 {
			return 0, timing.CompileError
		}
		e := math.Log(smooth(s))
		for _, p := range [2]string{"wy", "gy"} {
			e += 0.12 * normal(s.Family()+p, number*31+uint64(s.Int(p, 0)), "cliff")
		}
		for _, p := range [2]string{"load", "fetch"} {
			e += 0.08 * normal(s.Family()+p, number*31+uint64(s.Int(p, 0)), "choice")
		}
		if s.Int("chunk", 0) > 0 { // whole waves or not
			e += 0.10 * normal("wave", number*977+uint64(s.Int("chunk", 0)*s.Int("gy", 0)), "wave")
		}
		e += 0.05 * normal(s.String(), number, "fine")
		return math.Exp(e), timing.OK
	}
	return l, smooth
}
