package space

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// Param is one tunable: its meaning, its unit and its legal values, ascending.
type Param struct {
	Name    string
	Doc     string // what it is, its unit, what it buys and what it costs
	Values  []int
	Ordinal bool // neighbouring values behave alike; false for a choice
	// Optional leaves the parameter out of a schedule's text at its first value, the
	// default: a family can grow a parameter and its old texts keep their meaning.
	Optional bool
	// Launch says that it changes a launch alone: schedules that differ in such parameters
	// only share their kernel's source.
	Launch bool
	// Single is the value that a launch of a single time step has, as those have that do the
	// steps left over; 0 = the schedule's own.
	Single int
	// Near says that compiled kernels which differ in it alone are alike: what was measured of
	// one tells of the other (docs/lab/0023-programs.md).
	Near bool
	// SMs says that its value, unless it is 0, is the number of SMs of the machine.
	SMs bool
}

// Values are the values of a family's parameters, in the family's order.
type Values struct {
	family *Family
	v      []int
	made   *made // nil = Once keeps nothing
}

// made is what Once made of values, and whether it is of those at hand.
type made struct {
	of   any
	same bool
}

// Once is what f makes of the values. The constraints of a family that look at the same values share it, so that they must all ask with the
// same f. It may make over what it made of other values; nil = nothing yet.
func (v Values) Once(f func(v Values, old any) any) any {
	if v.made == nil {
		return f(v, nil)
	}
	if !v.made.same {
		v.made.of, v.made.same = f(v, v.made.of), true
	}
	return v.made.of
}

// Get is the value of a parameter; asking for one the family lacks is our own bug.
func (v Values) Get(name string) int { return v.v[v.family.position(name)] }

// Constraint is one reason why some schedules do not exist.
type Constraint struct {
	Name  string            // short, for counting: "threads"
	Needs []string          // all parameters that OK looks at: its answer is kept for their values, so that without one a space is wrong; a needless one costs time
	Why   string            // why it must hold, for the user
	OK    func(Values) bool // whether it holds
	// Advice marks a schedule that would run and give the right answer, but cannot win.
	Advice bool
}

// Family is the part of a space that one kernel family offers.
type Family struct {
	Name        string
	Params      []Param
	Constraints []Constraint
	// Advice is what did not pay wherever it was measured: schedules that break it are legal,
	// but Advised leaves them out.
	Advice []Constraint

	// Points are, if not nil, the only schedules, as values in the order of enumeration; the
	// constraints hold for them too. They are for families that are not worth a walk through
	// the product of their values.
	Points [][]int

	ready [][]Constraint // constraints to check once the first i parameters are set
	words []uint64       // the parameters' names as words
}

// word is a name of at most eight letters as one word, which compares faster: 0 of a longer one.
func word(name string) (w uint64) {
	if len(name) > 8 {
		return 0
	}
	for i := range len(name) {
		w = w<<8 | uint64(name[i])
	}
	return w
}

func (f *Family) position(name string) int {
	if w := word(name); w != 0 { // a hundred million times a proof
		for i, x := range f.words {
			if x == w {
				return i
			}
		}
	}
	for i := range f.Params {
		if f.Params[i].Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("space: family %s has no parameter %s", f.Name, name))
}

// prepare files every constraint under the last parameter it needs, so that
// enumeration leaves a dead branch as early as can be.
func (f *Family) prepare() {
	f.words = nil
	for _, p := range f.Params {
		f.words = append(f.words, word(p.Name))
	}
	f.ready = make([][]Constraint, len(f.Params)+1)
	for _, c := range f.Constraints {
		set := 0
		for _, n := range c.Needs {
			set = max(set, f.position(n)+1)
		}
		f.ready[set] = append(f.ready[set], c)
	}
}

// Rejection says which constraint a schedule breaks.
type Rejection struct {
	Schedule   Schedule
	Constraint string
	Why        string
}

func (r *Rejection) Error() string {
	return fmt.Sprintf("%s: illegal schedule (%s): %s", r.Schedule, r.Constraint, r.Why)
}

// check tells why s is not a schedule of this family, or nil.
func (f *Family) check(s Schedule) error {
	v, err := f.Values(s)
	if err != nil {
		return err
	}
	for i, p := range f.Params {
		if !slices.Contains(p.Values, v[i]) {
			return &Rejection{s, p.Name, fmt.Sprintf("%s must be one of %v", p.Name, p.Values)}
		}
	}
	if c := f.broken(Values{family: f, v: v}); c != nil {
		return &Rejection{s, c.Name, c.Why}
	}
	return nil
}

// broken is the first constraint that does not hold of values, or nil.
func (f *Family) broken(v Values) *Constraint {
	for i := range f.Constraints {
		if c := &f.Constraints[i]; !c.OK(v) {
			return c
		}
	}
	return nil
}

// Values are the values of a schedule's parameters in the family's order, with the
// defaults that its text leaves out. A text of other parameters, or one that is
// not canonical, is a *Rejection; whether the values are legal is for Space.Check.
func (f *Family) Values(s Schedule) ([]int, error) {
	fields := s.Fields()
	v := make([]int, len(f.Params))
	given := 0
	for i, p := range f.Params {
		absent := given == len(fields) || fields[given].Name != p.Name
		switch {
		case absent && p.Optional && len(p.Values) > 0:
			v[i] = p.Values[0]
			continue
		case absent:
			return nil, f.misnamed(s, fields)
		case p.Optional && len(p.Values) > 0 && fields[given].Value == p.Values[0]:
			return nil, &Rejection{s, p.Name, fmt.Sprintf("leave %s out: %d is its default", p.Name, p.Values[0])}
		}
		v[i] = fields[given].Value
		given++
	}
	if given < len(fields) {
		return nil, f.misnamed(s, fields)
	}
	return v, nil
}

// misnamed rejects a schedule for the names of its parameters.
func (f *Family) misnamed(s Schedule, fields []Field) error {
	why := fmt.Sprintf("family %s has the parameters %s", f.Name, f.names())
	if len(fields) == len(f.Params) {
		why += ", in that order"
	}
	return &Rejection{s, "parameters", why}
}

// names lists the parameters, optional ones in brackets.
func (f *Family) names() string {
	t := ""
	for i, p := range f.Params {
		if i > 0 {
			t += " "
		}
		if p.Optional {
			t += "[" + p.Name + "]"
		} else {
			t += p.Name
		}
	}
	return t
}

// Space is all schedules of all families that are legal for one problem on one machine.
type Space struct {
	families []*Family
	list     func() []Schedule // all of them, enumerated when first asked for
}

// New joins families into a space. A family must not appear twice.
func New(families ...*Family) *Space {
	s := &Space{}
	s.list = sync.OnceValue(s.enumerate)
	for _, f := range families {
		if s.Family(f.Name) != nil {
			panic("space: family " + f.Name + " given twice")
		}
		f.prepare()
		s.families = append(s.families, f)
	}
	return s
}

// Families are the families in order: simplest first.
func (s *Space) Families() []*Family { return s.families }

// Family finds a family by name, or nil.
func (s *Space) Family(name string) *Family {
	for _, f := range s.families {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// enumerate lists the space, on all processors: of each family what begins with the same values apart.
func (s *Space) enumerate() []Schedule {
	type share struct {
		family *Family
		with   []int // the values of the first parameters
	}
	var shares []share
	for _, f := range s.families {
		depth := f.depth()
		f.walk(nil, depth, func(v []int) bool {
			shares = append(shares, share{f, slices.Clone(v[:depth])})
			return true
		})
	}
	return slices.Concat(Each(shares, func(q share) (some []Schedule) {
		q.family.enumerate(q.with, func(v []int) bool {
			some = append(some, Make(q.family.Name, q.family.Params, v))
			return true
		})
		return some
	})...)
}

// mostShares bounds into how many shares the enumeration of a family is cut.
const mostShares = 1000

// depth is the first parameters by whose values a family's enumeration is cut into shares: two, or as many as make no more than mostShares. Points that are
// listed are one share.
func (f *Family) depth() (n int) {
	if f.Points != nil {
		return 0
	}
	for shares := 1; n < min(2, len(f.Params)); n++ {
		if shares *= len(f.Params[n].Values); shares > mostShares {
			break
		}
	}
	return n
}

// All yields every legal schedule, always in the same order: family after family.
func (s *Space) All() iter.Seq[Schedule] { return slices.Values(s.list()) }

// Size counts the legal schedules.
func (s *Space) Size() int { return len(s.list()) }

// Empty tells whether no schedule is legal, without listing them.
func (s *Space) Empty() bool {
	for _, f := range s.families {
		none := true
		f.enumerate(nil, func([]int) bool {
			none = false
			return false
		})
		if !none {
			return false
		}
	}
	return true
}

// Raw is the number of points before constraints, or the largest int if that is less.
func (s *Space) Raw() int {
	n := 0.0
	for _, f := range s.families {
		m := 1.0
		for _, p := range f.Params {
			m *= float64(len(p.Values))
		}
		n += m
	}
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return int(n)
}

// Check tells why a schedule is not in the space, as a *Rejection, or nil.
func (s *Space) Check(sc Schedule) error {
	f := s.Family(sc.Family())
	if f == nil {
		names := make([]string, len(s.families))
		for i, f := range s.families {
			names[i] = f.Name
		}
		return &Rejection{sc, "family", fmt.Sprintf("no such family here; the families are %v", names)}
	}
	return f.check(sc)
}

// Encode gives the index of each parameter's value, what a sampler searches over:
// false if the schedule has other parameters or a value that does not exist.
func (f *Family) Encode(sc Schedule) (idx []int, ok bool) {
	v, err := f.Values(sc)
	if err != nil {
		return nil, false
	}
	for i, p := range f.Params {
		if v[i] = slices.Index(p.Values, v[i]); v[i] < 0 {
			return nil, false
		}
	}
	return v, true
}

// Decode is the schedule with these value indices; it may be illegal. An index
// out of range is an error.
func (f *Family) Decode(idx []int) (Schedule, error) {
	if len(idx) != len(f.Params) {
		return Schedule{}, fmt.Errorf("family %s: %d indices for %d parameters", f.Name, len(idx), len(f.Params))
	}
	v := make([]int, len(idx))
	for i, k := range idx {
		if k < 0 || k >= len(f.Params[i].Values) {
			return Schedule{}, fmt.Errorf("family %s: index %d of %s outside 0..%d", f.Name, k, f.Params[i].Name, len(f.Params[i].Values)-1)
		}
		v[i] = f.Params[i].Values[k]
	}
	return Make(f.Name, f.Params, v), nil
}
