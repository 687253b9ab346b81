package sl

import (
	"fmt"
	"math"
)

// Model is the pyramid-height model of Meng and Skadron ("Performance Modeling and
// Automatic Ghost Zone Optimization for Iterative Stencil Loops on GPUs", ICS
// 2009) as the optimiser of the SL compiler uses it ("A Language and Optimizing
// Compiler for Iterative Stencil Loops", section 6.3): what it needs to know of
// the program is measured when it runs. A block owns a tile of one cell a thread;
// tile less its halo, height times, is what it writes.
//
// Two constants are the model's own, of GPUs before Fermi: a latency of 300 clocks,
// and 16 threads a memory transaction, five times slower with each dimension.
// Known flaws, kept because the model does not work without them (its porters'
// remarks): loads are not counted once a wave, stores and embedded reads are.
type Model struct {
	Dims      int
	Size      [3]int  // cells of the grid
	Tile      [3]int  // cells of a tile, halo included: threads of a block
	Halo      [3]int  // of one time step, both sides together
	SetupRead float64 // global reads of a cell when a tile is loaded
	LoopRead  float64 // global reads of a cell in each step
	SMs       int
	BlocksSM  int // concurrent blocks of an SM
	ClockHz   float64
	Bandwidth float64 // of device memory, bytes per second
	Elem      int     // bytes

	Launch float64 // seconds of a null kernel with the same grid
	Setup  float64 // clocks of an SM to set a thread up; see Calibrate
	Loop   float64 // clocks of an SM for one step of a thread
}

// inside is the cells of a tile that are valid after height steps; 0 if none is.
func (s Model) inside(height int) float64 {
	n := 1.0
	for a := range s.Dims {
		n *= math.Max(0, float64(s.Tile[a]-height*s.Halo[a]))
	}
	return n
}

// blocks is how many tiles cover the grid, as the model counts: not rounded up.
func (s Model) blocks(height int) float64 {
	n := 1.0
	for a := range s.Dims {
		n *= float64(s.Size[a]) / float64(s.Tile[a]-height*s.Halo[a])
	}
	return n
}

// memory is the clocks in which n threads get a cell each.
func (s Model) memory(n float64) float64 {
	transaction := float64(s.Elem) * 16 / (s.Bandwidth / s.ClockHz) * math.Pow(5, float64(s.Dims-1))
	return n/16*transaction + 300
}

// parts are the clocks of a launch that fuses height steps: what does not depend
// on Setup and Loop, and what multiplies them.
func (s Model) parts(height int) (fixed, setup, loop float64) {
	tau, blocks := float64(height), s.blocks(height)
	concurrent := float64(s.BlocksSM * s.SMs)
	whole, once := s.inside(0), s.inside(1)
	load := s.SetupRead * s.memory(whole*concurrent)
	store := blocks / concurrent * s.memory(s.inside(height)*concurrent)
	embedded := s.LoopRead * blocks / concurrent * tau * s.memory(once*concurrent)
	fixed = s.Launch*s.ClockHz + load + store + embedded
	return fixed, blocks / float64(s.SMs) * whole, blocks / float64(s.SMs) * tau * once
}

// Seconds is the predicted time of one step with that pyramid height; infinite if
// nothing of a tile is left.
func (s Model) Seconds(height int) float64 {
	if height < 1 || s.inside(height) == 0 {
		return math.Inf(1)
	}
	fixed, setup, loop := s.parts(height)
	return (fixed + setup*s.Setup + loop*s.Loop) / float64(height) / s.ClockHz
}

// Calibrate finds Setup and Loop from the measured seconds of a step at two
// heights (the optimiser runs 1 and 2). Where the two times leave less than
// nothing for one of them, it is 0 and the other explains the second time.
func (s *Model) Calibrate(height1 int, seconds1 float64, height2 int, seconds2 float64) error {
	if height1 >= height2 || height1 < 1 || s.inside(height2) == 0 || !(seconds1 > 0) || !(seconds2 > 0) {
		return fmt.Errorf("sl: heights %d and %d with %g and %g s do not calibrate", height1, height2, seconds1, seconds2)
	}
	f1, a1, b1 := s.parts(height1)
	f2, a2, b2 := s.parts(height2)
	r1 := math.Max(0, seconds1*float64(height1)*s.ClockHz-f1)
	r2 := math.Max(0, seconds2*float64(height2)*s.ClockHz-f2)
	s.Setup, s.Loop = 0, 0
	if d := a1*b2 - a2*b1; d != 0 {
		s.Setup, s.Loop = (r1*b2-r2*b1)/d, (a1*r2-a2*r1)/d
	}
	if s.Setup < 0 {
		s.Setup, s.Loop = 0, r2/b2
	}
	if s.Loop < 0 {
		s.Setup, s.Loop = r2/a2, 0
	}
	return nil
}

// Height descends from height 1 until the prediction rises, and gives the last
// height before; most is the largest to try.
func (s Model) Height(most int) int {
	best := 1
	for h := 2; h <= most; h++ {
		if s.Seconds(h) >= s.Seconds(best) {
			break
		}
		best = h
	}
	return best
}
