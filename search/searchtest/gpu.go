package searchtest

import (
	"math"

	"stenciltune/space"
	"stenciltune/timing"
)

// gpu are the few facts of a large GPU that GPU's arithmetic needs.
var gpu = struct {
	sms, registers, warps, blocks int
	shared                        int     // bytes an SM
	bandwidth, issue              float64 // bytes/s, warp instructions/s of an SM
	latency, launch               float64 // seconds
}{132, 65536, 64, 32, 227 << 10, 4.2e12, 4 * 1.98e9, 0.7e-6, 4e-6}

// GPU is a landscape of about 37,000 schedules in three families made by
// arithmetic like a GPU's: whole waves of blocks, registers rounded up and
// spilling, occupancy in whole blocks, latency to be hidden, and recomputed halos
// of temporal blocking. The best schedules lie on narrow ridges. Its smooth part
// is the same arithmetic with a wrong count of registers and without what a
// compiler does by chance, so it puts some cliffs in the wrong place. The grid
// and the compiler's moods depend on the number.
func GPU(number uint64) (*Landscape, func(space.Schedule) float64) {
	n := []int{384, 448, 512, 640, 768}[number%5]
	ordinal := func(name string, values ...int) space.Param {
		return space.Param{Name: name, Doc: "synthetic", Values: values, Ordinal: true}
	}
	box := []space.Param{
		ordinal("gx", 16, 32, 64, 128, 256), ordinal("gy", 1, 2, 4, 8, 16), ordinal("gz", 1, 2, 4),
		ordinal("wx", 1, 2), ordinal("wy", 1, 2, 4), ordinal("wz", 1, 2, 4),
		ordinal("cw", 0, 64, 128, 256),
	}
	threads := space.Constraint{Name: "threads", Needs: []string{"gx", "gy", "gz"}, Why: "a block has 64 to 1024 threads",
		OK: func(v space.Values) bool {
			t := v.Get("gx") * v.Get("gy") * v.Get("gz")
			return t >= 64 && t <= 1024
		}}
	work := space.Constraint{Name: "work", Needs: []string{"wx", "wy", "wz"}, Why: "a thread holds at most 16 cells",
		OK: func(v space.Values) bool { return v.Get("wx")*v.Get("wy")*v.Get("wz") <= 16 }}
	column := space.Constraint{Name: "column", Needs: []string{"gx", "wx", "cw"}, Why: "a column holds two or more whole tiles",
		OK: func(v space.Values) bool {
			c, w := v.Get("cw"), v.Get("gx")*v.Get("wx")
			return c == 0 || c%w == 0 && c > w
		}}
	shared := space.Constraint{Name: "shared", Needs: []string{"gx", "gy", "gz", "wx", "wy", "wz", "ph"}, Why: "a tile fits in shared memory",
		OK: func(v space.Values) bool {
			h := 2 * v.Get("ph")
			return (v.Get("gx")*v.Get("wx")+h)*(v.Get("gy")*v.Get("wy")+h)*(v.Get("gz")*v.Get("wz")+h)*4 <= gpu.shared
		}}
	global := &space.Family{Name: "global", Params: box, Constraints: []space.Constraint{threads, work, column}}
	tile := &space.Family{Name: "tile", Params: append(box[:7:7], ordinal("ph", 1, 2)),
		Constraints: []space.Constraint{threads, work, column, shared}}
	stream := &space.Family{Name: "stream",
		Params: []space.Param{
			ordinal("vx", 1, 2, 4), ordinal("vy", 1, 2, 3, 4, 6, 8), ordinal("bw", 2, 4, 8, 16, 32),
			ordinal("chunk", 16, 32, 43, 52, 64, 74, 86, 103, 128, 256, 512),
			ordinal("ph", 1, 2, 3, 4), ordinal("minb", 0, 1, 2), ordinal("fetch", 0, 1, 2),
		},
		Constraints: []space.Constraint{
			{Name: "halo", Needs: []string{"vy", "bw", "ph"}, Why: "a block writes at least one row",
				OK: func(v space.Values) bool { return v.Get("vy")*v.Get("bw") > 2*v.Get("ph") }},
			{Name: "chunk", Needs: []string{"chunk"}, Why: "a chunk is at most the grid",
				OK: func(v space.Values) bool { return v.Get("chunk") <= n }},
		},
	}
	l := &Landscape{Name: "gpu", Space: space.New(global, tile, stream), Noise: 0.005, Seed: number}

	// registers is the true count a thread; guess 0 the truth, 1 the model's.
	registers := func(s space.Schedule, guess bool) int {
		var r float64
		switch s.Family() {
		case "stream":
			v, t := s.Int("vx", 1)*s.Int("vy", 1), s.Int("ph", 1)
			if guess {
				r = 30 + 2.6*float64(v*t) + 2*float64(s.Int("fetch", 0)*v)
			} else {
				r = 26 + 3.1*float64(v*t) + 1.5*float64(s.Int("fetch", 0)*v) + 6*normal(s.Family(), number*7+uint64(v*8+t), "registers")
			}
		default:
			w := s.Int("wx", 1) * s.Int("wy", 1) * s.Int("wz", 1)
			r = 24 + 2.5*float64(w)
			if !guess {
				r += 5 * normal(s.Family(), number*7+uint64(w), "registers")
			}
		}
		return max(16, int(math.Ceil(r/8))*8)
	}
	seconds := func(s space.Schedule, guess bool) (float64, timing.Status) {
		ceil := func(a, b int) int { return (a + b - 1) / b }
		t := s.Int("ph", 1)
		var threads, blocks, sharedBytes int
		var cells, loads, spill float64 // per output cell and step: computed, DRAM bytes, spilled bytes
		inflight := 1.0                 // 16-byte loads in flight a thread
		switch s.Family() {
		case "stream":
			vx, vy, bw, chunk := s.Int("vx", 1), s.Int("vy", 1), s.Int("bw", 1), s.Int("chunk", 1)
			w, h := 32*vx-2*t, vy*bw-2*t
			if w < 1 || h < 1 {
				return 0, timing.LaunchError
			}
			threads = 32 * bw
			blocks = ceil(n, w) * ceil(n, h) * ceil(n, chunk)
			cells = float64((w+2*t)*(h+2*t)*(chunk+2*t)*ceil(n, w)*ceil(n, h)*ceil(n, chunk)) / float64(n*n*n)
			loads = (4*math.Sqrt(cells) + 4) / float64(t)
			sharedBytes = 2 * 4 * 32 * vx * bw * 2 * t
			inflight = float64(vx*vy) / 4 * float64(1+s.Int("fetch", 0))
		default:
			wx, wy, wz := s.Int("gx", 1)*s.Int("wx", 1), s.Int("gy", 1)*s.Int("wy", 1), s.Int("gz", 1)*s.Int("wz", 1)
			threads = s.Int("gx", 1) * s.Int("gy", 1) * s.Int("gz", 1)
			blocks = ceil(n, wx) * ceil(n, wy) * ceil(n, wz)
			over := float64(wx*wy*wz*blocks) / float64(n*n*n)
			halo := float64((wx+2*t)*(wy+2*t)*(wz+2*t)) / float64(wx*wy*wz)
			cells = over
			loads = 4*(1+0.35*(halo-1)) + 4
			if s.Family() == "tile" {
				sharedBytes = 4 * (wx + 2*t) * (wy + 2*t) * (wz + 2*t)
				cells = over * (1 + float64(t-1)*(halo-1)/2) * 1.3
				loads /= float64(t)
			}
			if c := s.Int("cw", 0); c > 0 {
				loads *= 1 - 0.06*math.Exp(-math.Pow(math.Log(float64(c)/128), 2))
			}
			inflight = 0.25 * float64(s.Int("wx", 1)*s.Int("wy", 1)*s.Int("wz", 1)) * 1.5
			if s.Int("gx", 1) < 32 {
				loads *= 1.5
			}
		}
		if threads > 1024 {
			return 0, timing.LaunchError
		}
		r := registers(s, guess)
		limit := 255
		if b := s.Int("minb", 0); b > 0 {
			limit = min(limit, gpu.registers/(b*threads)/8*8)
		}
		if r > limit {
			spill = float64(r-limit) * 0.35
			r = max(16, limit)
		}
		if r*threads > gpu.registers {
			if guess {
				return math.Inf(1), timing.LaunchError
			}
			return 0, timing.LaunchError
		}
		resident := min(gpu.registers/(r*threads), gpu.warps*32/threads, gpu.blocks, gpu.shared/max(1, sharedBytes+1024))
		if resident == 0 {
			return 0, timing.LaunchError
		}
		waves := float64(blocks) / float64(gpu.sms*resident)
		tail := math.Ceil(waves) / waves
		cellsAll := float64(n * n * n)
		// Little: bytes in flight against bandwidth times latency.
		flight := float64(gpu.sms*resident*threads) * inflight * 16
		reach := flight / (gpu.bandwidth * gpu.latency)
		share := reach / math.Pow(1+math.Pow(reach, 3), 1.0/3)
		memory := cellsAll * (loads + spill/8) / (gpu.bandwidth * 0.92 * share)
		warps := float64(resident*threads) / 32
		busy := warps / (warps + 6)
		issue := cellsAll * cells * (14 + spill/4) / 32 / (gpu.issue * float64(gpu.sms) * busy)
		p := 4.0
		time := math.Pow(math.Pow(memory, p)+math.Pow(issue, p), 1/p)*(0.35+0.65*tail) + gpu.launch/float64(t)
		return time, timing.OK
	}
	smooth := func(s space.Schedule) float64 {
		t, status := seconds(s, true)
		if status != timing.OK {
			return math.Inf(1)
		}
		return t
	}
	l.True = func(s space.Schedule) (float64, timing.Status) {
		t, status := seconds(s, false)
		if status != timing.OK {
			return 0, status
		}
		e := 0.0
		// The compiler's mood: how it unrolls depends on the work of a thread.
		shape := uint64(s.Int("vx", 0)*1000 + s.Int("vy", 0)*100 + s.Int("ph", 0)*10 + s.Int("wx", 0)*7000 + s.Int("wy", 0)*70000 + s.Int("wz", 0)*700000)
		if uniform(s.Family(), number*13+shape, "pathology") < 0.1 {
			e += 0.3 + 0.5*uniform(s.Family(), number*13+shape, "depth")
		}
		e += 0.06*normal(s.Family(), number*13+shape, "unroll") + 0.02*normal(s.String(), number, "fine")
		return t * math.Exp(e), timing.OK
	}
	return l, smooth
}
