package space

import "slices"

// Widen is the space in which the parameters of one family also have the values
// given, by name, and its advice does not hold: for measuring what a search would not
// try. The other constraints hold for every value.
func (s *Space) Widen(family string, values map[string][]int) *Space {
	var families []*Family
	for _, f := range s.families {
		if f.Name == family {
			wide := &Family{Name: f.Name, Params: slices.Clone(f.Params)}
			for i, p := range wide.Params {
				known := slices.Clone(p.Values) // the default of an optional one stays first
				for _, v := range values[p.Name] {
					if !slices.Contains(known, v) {
						known = append(known, v)
					}
				}
				wide.Params[i].Values = known
			}
			for _, c := range f.Constraints {
				if !c.Advice {
					wide.Constraints = append(wide.Constraints, c)
				}
			}
			f = wide
		}
		families = append(families, f)
	}
	return New(families...)
}
