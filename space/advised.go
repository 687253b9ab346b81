package space

import "slices"

// Advised is the space without the schedules that its families' advice leaves out: what a
// search tries unless it is told to try all. If that leaves nothing it is the space itself.
func (s *Space) Advised() *Space {
	var families []*Family
	for _, f := range s.families {
		families = append(families, &Family{Name: f.Name, Params: f.Params, Constraints: slices.Concat(f.Constraints, f.Advice)})
	}
	if advised := New(families...); !advised.Empty() {
		return advised
	}
	return s
}
