package stencil

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Range is the values an array is meant for: from Low to High, or so many of them, equally spaced. The zero Range is that of
// arrays of which a file says nothing: [-1, 1), of integers 0 and 1. An array that is stored in integers among floating-point ones
// takes nothing from an InputRange of all.
type Range struct {
	Low, High float64
	Count     int     // of a set; 0 = all between
	Share     float64 // of High in a set of two whose values are given several times; 0 = half
}

// String is the text that a stencil's identity has of a range.
func (r Range) String() string {
	if r.Share != 0 {
		return fmt.Sprint([]any{r.Low, r.High, r.Count, r.Share})
	}
	return fmt.Sprintf("{%v %v %v}", r.Low, r.High, r.Count)
}

// Scale gives the start value of an array's element from 24 random bits h: Low + h*Step, towards zero for integers; with a
// Quantum, Low and so many quanta as h*Step is, rounded down. A Quantum that is NaN is one for elements whose bits are all ones.
type Scale struct{ Low, Step, Quantum float64 }

// InputScale gives the start values of an array: fields, then read-only arrays.
func (p Problem) InputScale(array int) Scale {
	if p.Impulses && array < len(p.Stencil.Fields) {
		return Range{High: 256, Count: 2, Share: 1.0 / 61}.scale(true)
	}
	c := p.Stencil.arrays()[array].Range.scale(p.Stored(array).Floating())
	if p.NaN && array < len(p.Stencil.Fields) && p.Stored(array).Floating() {
		if c.Quantum != 0 { // of a set all that lies between
			c.Step *= c.Quantum
		}
		c.Quantum = math.NaN()
	}
	return c
}

// scale gives start values from a range.
func (r Range) scale(floating bool) Scale {
	switch {
	case r.Share > 0.5: // the rarer of two is the second
		return Scale{r.High, 0x1p-24 / r.Share, r.Low - r.High}
	case r.Share > 0:
		return Scale{r.Low, 0x1p-24 / (1 - r.Share), r.High - r.Low}
	case r.Count > 0:
		return Scale{r.Low, float64(r.Count) * 0x1p-24, max(r.High-r.Low, math.SmallestNonzeroFloat64) / float64(max(1, r.Count-1))}
	case floating && r == Range{}:
		r = Range{Low: -1, High: 1}
	case r == Range{}:
		r = Range{Low: 0, High: 2}
	case !floating:
		r.High++
	}
	return Scale{Low: r.Low, Step: (r.High - r.Low) * 0x1p-24}
}

// of is a start value before it is rounded to the element type.
func (c Scale) of(bits uint32, floating bool) float64 {
	v := float64(bits) * c.Step
	switch {
	case math.IsNaN(c.Quantum) && bits == ones:
		return c.Quantum
	case math.IsNaN(c.Quantum):
		return c.Low + v
	case c.Quantum != 0:
		return c.Low + c.Quantum*float64(uint32(v))
	case floating:
		return c.Low + v
	}
	return c.Low + float64(uint32(v))
}

// ranges is a text of what the arrays are meant for.
func (s *Stencil) ranges() string {
	var list []Range
	for _, a := range s.arrays() {
		list = append(list, a.Range)
	}
	for i := range s.Sparse {
		list = append(list, s.Sparse[i].Range)
	}
	return fmt.Sprint(list)
}

// meant is what InputRange says of an array, or of all that no other names.
type meant struct {
	key, array token
	Range
}

// inputRange parses [array] ((lowest, highest) | {value, ...}).
func (p *parser) inputRange(key token) (err error) {
	m := meant{key: key}
	if p.peek().kind == tokName {
		m.array = p.take()
	}
	var values []float64
	one := func(int) error {
		v, err := p.literal()
		values = append(values, v)
		return err
	}
	if at := p.peek(); p.accept("{") {
		for more := true; more && err == nil; more = p.accept(",") {
			if err = one(0); len(values) > maxNames {
				return p.fail(at, "more than %d values", maxNames)
			}
		}
		if err == nil {
			_, err = p.expect("}")
		}
		if err != nil {
			return err
		}
		slices.Sort(values)
		set := slices.Compact(slices.Clone(values))
		m.Range = Range{Low: set[0], High: set[len(set)-1], Count: len(set)}
		if len(values) > len(set) {
			if len(set) != 2 {
				return p.fail(at, "of two values each may be given several times, as it is to be more frequent, like {0, 0, 0, 1}; of one or of more only once")
			}
			if m.Share = float64(len(values)-slices.Index(values, m.High)) / float64(len(values)); m.Share == 0.5 {
				m.Share = 0
			}
		}
		for i, v := range set {
			if want := m.Low + (m.High-m.Low)*float64(i)/float64(max(1, len(set)-1)); math.Abs(v-want) > 1e-12*(m.High-m.Low) {
				return p.fail(at, "want values that are as far apart as each other, like {0, 1} or {-1, 0, 1}")
			}
		}
	} else {
		if t := p.after(); p.is("(") && t.kind == tokName {
			return p.fail(t, "want a number here, found %s; an array stands before its range: InputRange %.40s (0, 1)", t, t.text)
		}
		if err = p.list(one); err == nil && (len(values) != 2 || !(values[0] < values[1])) {
			err = p.fail(key, "InputRange wants the lowest and the highest value, (0, 1), or a set of values, {0, 1}")
		}
		if err != nil {
			return err
		}
		m.Range = Range{Low: values[0], High: values[1]}
	}
	for _, before := range p.meant {
		if before.array.text == m.array.text {
			return p.fail(key, "InputRange is given twice; remove one, or say of which array each is: InputRange u (0, 1)")
		}
	}
	p.meant = append(p.meant, m)
	return nil
}

// holdsRange tells whether integers of the type have the values of a range; for a floating-point type it is true.
func (d DType) holdsRange(r Range) bool {
	step := (r.High - r.Low) / float64(max(1, r.Count-1))
	return d.Floating() || d.Round(r.Low) == r.Low && d.Round(r.High) == r.High && r.High-r.Low < 1<<31 && (r.Count == 0 || step == math.Trunc(step))
}

// ranges gives each array what it is meant for.
func (p *parser) ranges() error {
	s := p.out
	slices.SortStableFunc(p.meant, func(a, b meant) int { return min(1, len(a.array.text)) - min(1, len(b.array.text)) })
	for _, m := range p.meant {
		all := m.array.text == ""
		found := all
		for _, a := range s.arrays() {
			d := cmp.Or(a.Type, s.DType)
			if !all && a.Name != m.array.text || all && s.DType.Floating() && !d.Floating() {
				continue
			}
			if all && slices.ContainsFunc(p.meant, func(m meant) bool { return m.array.text != "" && m.array.text == a.Name }) {
				continue
			}
			if !d.holdsRange(m.Range) {
				own := ""
				if all && a.Type != "" {
					own = fmt.Sprintf(", as which %.40s is stored; give it one of its own: InputRange %[1]s (0, 1)", a.Name)
				}
				return p.fail(m.key, "InputRange must hold values of %s, at most 2147483647 apart%s", d, own)
			}
			a.Range, found = m.Range, true
		}
		for i := range s.Sparse {
			a := &s.Sparse[i]
			if !a.Sources() || !all && a.Name != m.array.text {
				continue
			}
			if !s.DType.holdsRange(m.Range) {
				return p.fail(m.key, "InputRange must hold values of %s, at most 2147483647 apart", s.DType)
			}
			a.Range, found = m.Range, true
		}
		if !found && slices.ContainsFunc(s.Scalars, func(a Argument) bool { return a.Name == m.array.text }) {
			return p.fail(m.array, "%s is a scalar: its value is that of ScalarVariables (float %.40s = 1), or of --scalar", m.array, m.array.text)
		}
		if !found {
			return p.fail(m.array, "want the name of a field, a read-only array or a list of sources here, found %s", m.array)
		}
	}
	return nil
}
