package stream

import (
	"slices"

	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// advice is which values did not pay on an H200, in 528 recordings of float32 and 2 of float64. A loss
// is of the best schedule, where a search does without the value. (The 2D rows cost most together: 0.12 % in
// the mean and 4.0 % at worst, those of 3D 0.12 and 2.3 %; kernels/all's test judges them.)
func advice(p stencil.Problem, m machine.Machine) []space.Constraint {
	if !kernels.Recorded(p, m) {
		return nil
	}
	var rows []space.Constraint
	leave := func(name, why string, values ...int) {
		rows = append(rows, space.Constraint{
			Name: "advice-" + name, Needs: []string{name}, Why: why, Advice: true,
			OK: func(v space.Values) bool { return !slices.Contains(values, v.Get(name)) },
		})
	}
	switch {
	case p.Stencil.Dims == 3: // tunes in float64 found nothing else either
		leave("mb", "without a limit on registers nothing was lost on 194 of 211 grids, 0.09 % in the mean, 2.3 % at worst", 2, 3, 4)
		leave("wp", "16 warps a block were best on 2 of 211 grids, by 1.4 % at most", 16)
		leave("vy", "fewer than 3 rows a thread were best on the smallest grids alone, by 2.2 % at most", 1, 2)
		leave("ck", "24 stream tiles were best on none of 211 grids", 24)
		leave("ph", "more than 6 time steps in flight were best on none of 211 grids", 8)
	case p.DType == stencil.Float32: // tunes in float64 have found 4 warps, with a limit on registers
		leave("wp", "4 strips a block, and the limits on registers that go with them, were best on 31 of 317 grids; without them 0.12 % is lost in the mean, 4.0 % at worst", 4)
		leave("ph", "14 and 16 time steps in flight were best on none of 317 grids", 14, 16)
		leave("ck", "1, 2 and 256 stream tiles were best on none of 317 grids", 1, 2, 256)
	}
	return rows
}
