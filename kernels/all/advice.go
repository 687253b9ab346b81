package all

import (
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// unpaid are the families that do not pay where stream fuses time steps, and why. Of those that were recorded no
// schedule was best.
var unpaid = map[string]string{
	"smalltile": slower, "tile": slower, "slide": slower,
	"sweep": "a launch of one time step is bound by memory's bandwidth; where stream's are fused they need less of it (not recorded)",
}

const slower = "stream is twice as fast at least, in all of 530 recordings"

// Space is all schedules that are legal for a problem. Its advice is that of the families, and to
// leave out those that are always slower, where the problem is like what was recorded and
// stream has a schedule for it.
func Space(p stencil.Problem, m machine.Machine) *space.Space {
	sp := kernels.Spaces(Families(), p, m)
	stream := sp.Family("stream")
	if stream == nil || !kernels.Recorded(p, m) || space.New(stream).Empty() {
		return sp
	}
	var families []*space.Family
	for _, f := range sp.Families() {
		if why := unpaid[f.Name]; why != "" {
			f.Advice = append(f.Advice, space.Constraint{
				Name: "advice-family", Needs: []string{f.Params[0].Name}, Advice: true, Why: why,
				OK: func(space.Values) bool { return false },
			})
		}
		families = append(families, f)
	}
	return space.New(families...)
}
