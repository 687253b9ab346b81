package space

import "slices"

// nearestTries bounds how many schedules Nearest looks at.
const nearestTries = 20_000

// Nearest is the legal schedule that is fewest values below a schedule of the family, which may be legal nowhere: each value is
// the schedule's own, the largest below one that the family does not have, or a smaller one. Of two that are as near it is the one
// that changes an earlier parameter. A choice is kept. It is false where there is none.
func (f *Family) Nearest(sc Schedule) (Schedule, bool) {
	values, err := f.Values(sc)
	if err != nil {
		return Schedule{}, false
	}
	first := make([]int, len(values))
	for i, p := range f.Params {
		at, found := slices.BinarySearch(p.Values, values[i])
		if !found {
			at--
		}
		if at < 0 || !found && !p.Ordinal {
			return Schedule{}, false
		}
		first[i] = at
	}
	// No list holds a schedule twice, since only its last changed parameter and those after it are changed further.
	type below struct {
		index []int
		last  int
	}
	for level, tries := []below{{first, 0}}, 0; len(level) > 0; {
		var next []below
		for _, b := range level {
			s, err := f.Decode(b.index)
			if err != nil {
				return Schedule{}, false
			}
			if f.check(s) == nil {
				return s, true
			}
			if tries++; tries == nearestTries {
				return Schedule{}, false
			}
			for i := b.last; i < len(b.index); i++ {
				if f.Params[i].Ordinal && b.index[i] > 0 {
					index := slices.Clone(b.index)
					index[i]--
					next = append(next, below{index, i})
				}
			}
		}
		level = next
	}
	return Schedule{}, false
}
