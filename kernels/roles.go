package kernels

import (
	"math"

	"stenciltune/machine"
	"stenciltune/space"
)

// Parameters that mean the same in every family, so that a schedule can be read by its text
// alone (Remainder, On, SMsOf). A family takes them from here; a test of kernels/all holds that
// no other parameter of any family claims to be one.
var (
	// TimeTile is the time steps that a launch fuses.
	TimeTile = space.Param{Name: "ph", Ordinal: true, Single: 1}
	// MinBlocks is the blocks that an SM must be able to hold; a single step gives no reason for
	// a register limit.
	MinBlocks = space.Param{Name: "mb", Ordinal: true, Single: 1, Near: true}
	// SMCount is the number of SMs that a launch fills.
	SMCount = space.Param{Name: "sm", Optional: true, SMs: true}
)

// Roles lists them.
func Roles() []space.Param { return []space.Param{TimeTile, MinBlocks, SMCount} }

// Tuned is such a parameter as a family has it: what it is there, and its values.
func Tuned(role space.Param, doc string, values []int) space.Param {
	role.Doc, role.Values = doc, values
	return role
}

// Remainder is the schedule of the launches that do the steps left over when the time tile
// does not divide a run's steps: the same one a step at a time.
func Remainder(s space.Schedule) space.Schedule {
	for _, p := range Roles() {
		if p.Single > 0 && s.Int(p.Name, p.Single) != p.Single {
			s = s.With(p.Name, p.Single)
		}
	}
	return s
}

// Fewer is the schedule of launches of fewer time steps, about the square root of as many: of the steps left over
// they do most, and those of one step the last two or three. Time tiles of up to three steps have none but those.
func Fewer(s space.Schedule) space.Schedule {
	one, steps := Remainder(s), s.Int(TimeTile.Name, 1)
	if steps < 4 {
		return one
	}
	return one.With(TimeTile.Name, int(math.Round(math.Sqrt(float64(steps)))))
}

// On is a schedule on another machine: where it names the number of SMs, that is the
// machine's own.
func On(s space.Schedule, m machine.Machine) space.Schedule {
	for _, p := range Roles() {
		if p.SMs && s.Int(p.Name, 0) > 0 && m.SMs > 0 {
			s = s.With(p.Name, m.SMs)
		}
	}
	return s
}

// SMsOf is the number of SMs that a schedule names, 0 if none.
func SMsOf(s space.Schedule) int {
	n := 0
	for _, p := range Roles() {
		if p.SMs {
			n = max(n, s.Int(p.Name, 0))
		}
	}
	return n
}
