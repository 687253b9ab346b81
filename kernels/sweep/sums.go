package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// plan is how a stencil's stages are computed, each in a launch of its own.
type plan struct {
	rest   *stencil.Stencil // the stencil with the rests for cell functions
	stages []*stage
}

// stage is how a stage's cell function is computed: what arrives of which array, what that adds to
// which open sums, and what is read at the own cell besides.
type stage struct {
	number   int
	parts    stencil.Parts
	swept    []swept   // the arrays that sums read
	derived  []derived // and the values
	sums     []sum
	patterns []pattern
	low      int   // radius of the sums on z
	high     int   // on the other side
	own      []int // arrays that the rest reads at the own cell
	// operations is the multiplications and additions of a cell; a product that is added counts once.
	operations float64
	rest       stencil.Ops // of what is no sum
}

// swept is an array whose planes lie in shared memory.
type swept struct {
	array     int
	low, high [2]int // radius on x and rows
	diagonal  bool   // read off both the own column and the own row
}

// derived is a value that is computed of what several arrays have at one cell, as their product, for each
// cell at which a sum reads it.
type derived struct {
	swept        // how far it is read; its array is -1 less the hidden field
	text  string // body of the function
	names []string
	of    []int // the arrays that it is computed of, by names
	ops   float64
}

// sum is one of the cell function's.
type sum struct {
	low  int // radius towards earlier planes
	base int // its first among all open sums
}

// pattern is the weights of points in one plane of an array, and the planes that they are added to.
type pattern struct {
	place  int // of the array; derived values follow the arrays
	points []point
	users  []user
}

type point = kernels.PlanePoint

// user is a sum that takes factor times a pattern, dz planes from the own one.
type user struct {
	sum, dz int
	factor  float64
}

// known are the plans of stencils seen before: a stencil never changes.
var known sync.Map // *stencil.Stencil to *plan

// planOf is nil where the family does not run a stencil.
func planOf(st *stencil.Stencil) *plan {
	if p, ok := known.Load(st); ok {
		return p.(*plan)
	}
	p, _ := known.LoadOrStore(st, analyse(st))
	return p.(*plan)
}

func analyse(st *stencil.Stencil) *plan {
	if st.Dims != 3 || st.Of != nil || !st.DType.Floating() {
		return nil
	}
	rest := *st
	rest.Stages = slices.Clone(st.Stages)
	p := &plan{rest: &rest}
	for i := range st.Stages {
		q := newStage(st, i)
		if q == nil {
			return nil
		}
		rest.Stages[i].Body = q.parts.Rest
		p.stages = append(p.stages, q)
	}
	return p
}

// newStage is the plan of a stage; nil where it adds up nothing.
func newStage(st *stencil.Stencil, number int) *stage {
	p := &stage{number: number, parts: st.Split(number, 1)}
	p.derive(st)
	if len(p.parts.Sums) == 0 {
		return nil
	}
	for a := range st.Stages[number].Points {
		if p.parts.ReadsOwn(st, a) {
			p.own = append(p.own, a)
		}
	}
	for _, weights := range p.parts.Sums {
		for at := range weights {
			p.low, p.high = max(p.low, -at.At[2]), max(p.high, at.At[2])
			p.reach(at)
		}
	}
	slices.SortFunc(p.swept, func(a, b swept) int { return cmp.Compare(a.array, b.array) })
	for i, weights := range p.parts.Sums {
		s := sum{base: p.open()}
		for at := range weights {
			s.low = max(s.low, -at.At[2])
		}
		p.sums = append(p.sums, s)
		for place, of := range p.values() {
			for dz := -p.low; dz <= p.high; dz++ {
				p.share(place, pointsOf(weights, of.array, dz), user{sum: i, dz: dz, factor: 1})
			}
		}
	}
	for _, k := range p.patterns {
		if p.operations += float64(len(k.points)); k.shared() {
			p.operations += float64(len(k.users) - 1)
		}
	}
	p.rest = p.parts.Ops()
	for _, d := range p.derived {
		p.operations += d.ops * float64(1+d.low[1]+d.high[1])
	}
	return p
}

// pointsOf are a sum's points in one plane of an array, row by row.
func pointsOf(weights map[stencil.Point]float64, array, dz int) (points []point) {
	for at, w := range weights {
		if at.Array == array && at.At[2] == dz {
			points = append(points, point{at.At[0], at.At[1], w})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(a.DY, b.DY), cmp.Compare(a.DX, b.DX)) })
	return points
}

// share finds the pattern of which points are a multiple, or adds one.
func (p *stage) share(place int, points []point, u user) {
	if len(points) == 0 {
		return
	}
	for i := range p.patterns {
		k := &p.patterns[i]
		if k.place != place {
			continue
		}
		if f, ok := kernels.Proportion(points, k.points, 1e6); ok {
			u.factor = f
			k.users = append(k.users, u)
			return
		}
	}
	p.patterns = append(p.patterns, pattern{place, points, []user{u}})
}

// shared tells whether a pattern is summed on its own, and not straight into its only sum.
func (k pattern) shared() bool { return len(k.users) > 1 }

// ownPlane tells whether a pattern is added to sums of its own plane alone.
func (k pattern) ownPlane() bool {
	return !slices.ContainsFunc(k.users, func(u user) bool { return u.dz != 0 })
}

// thin tells whether planes of the halo have less to do than others.
func (p *stage) thin() bool {
	return p.low+p.high > 0 && slices.ContainsFunc(p.patterns, pattern.ownPlane)
}

// open counts the sums that a cell keeps from plane to plane.
func (p *stage) open() int {
	n := 0
	for _, s := range p.sums {
		n += s.low + p.high
	}
	return n
}

// places writes a function of n things as a constant expression; those that are otherwise need no case.
func places(head, variable, otherwise string, n int, value func(i int) string) string {
	var cases strings.Builder
	for i := range n {
		if v := value(i); v != otherwise {
			fmt.Fprintf(&cases, "%s == %d ? %s : ", variable, i, v)
		}
	}
	return fmt.Sprintf("__host__ __device__ constexpr %s(int %s) { return %s%s; }", head, variable, cases.String(), otherwise)
}

// slotsText says which arrays lie in shared memory, how far each is read, and where the rest finds the own cells:
// with keep in shared memory too, if they are there.
func (p *stage) slotsText(arrays int, keep bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	values := p.values()
	of := func(value func(s swept) int) func(i int) string {
		return func(i int) string { return strconv.Itoa(value(values[i])) }
	}
	n := len(values)
	line("constexpr int LOW_S = %d, HIGH_S = %d; // radius of the sums towards smaller planes, and larger ones", p.low, p.high)
	line("constexpr int SWEPT = %d; // arrays whose planes lie in shared memory", len(p.swept))
	line("constexpr int VALUES = %d; // that are added up: of those arrays, and derived from them cell by cell", n)
	line("%s // which the kth is", places("int array_of", "k", "0", len(p.swept), of(func(s swept) int { return s.array })))
	line("// How far it is read on x and rows, and whether off both the own column and the own row.")
	line("%s", places("int low_x", "k", "0", n, of(func(s swept) int { return s.low[0] })))
	line("%s", places("int high_x", "k", "0", n, of(func(s swept) int { return s.high[0] })))
	line("%s", places("int low_y", "k", "0", n, of(func(s swept) int { return s.low[1] })))
	line("%s", places("int high_y", "k", "0", n, of(func(s swept) int { return s.high[1] })))
	line("%s", places("bool diagonal", "k", "false", n, func(i int) string { return strconv.FormatBool(values[i].diagonal) }))
	centres, beside := p.ownFrom(keep)
	find := func(list []int) func(a int) string {
		return func(a int) string { return strconv.Itoa(slices.Index(list, a)) }
	}
	line("constexpr int BESIDE = %d; // arrays whose own cells are loaded from memory", len(beside))
	line("%s // which of them array a is", places("int beside_of", "a", "-1", arrays, find(beside)))
	line("%s // which of those in shared memory it is, if its own cells are read there", places("int centre_of", "a", "-1", arrays, func(a int) string {
		if !slices.Contains(centres, a) {
			return "-1"
		}
		return strconv.Itoa(p.place(a))
	}))
	line("constexpr int SUMS = %d; // of the cell function", len(p.sums))
	line("constexpr int OPEN = %d; // sums that a cell keeps from plane to plane", p.open())
	line("constexpr int PARTS = %d; // sums of points within one plane", len(p.patterns))
	line("constexpr bool THIN = %t; // planes of the halo have less to do: some parts are of their own plane alone", p.thin())
	return b.String()
}

// place is an array's among the swept ones, -1 for none.
func (p *stage) place(array int) int {
	return slices.IndexFunc(p.swept, func(s swept) bool { return s.array == array })
}

// ownFrom splits the arrays that the rest reads at the own cell: from shared memory, from memory.
func (p *stage) ownFrom(keep bool) (centres, beside []int) {
	for _, a := range p.own {
		if keep && p.place(a) >= 0 {
			centres = append(centres, a)
		} else {
			beside = append(beside, a)
		}
	}
	return centres, beside
}

// typesText says what the elements of arrays in shared memory are stored in.
func (p *stage) typesText(of stencil.Problem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "template <int K> struct Elements;\n")
	for i, s := range p.swept {
		fmt.Fprintf(&b, "template <> struct Elements<%d> {\n  typedef %s Type;\n};\n", i, kernels.ElementC(of, s.array))
	}
	fmt.Fprintf(&b, "template <int K> using ElemOf = typename Elements<K>::Type; // of array K of those in shared memory\n")
	return b.String()
}

// weightsText is the sums as device functions: weigh adds a row's points to the parts, begin_parts and
// collect bring parts and open sums together.
func (p *stage) weightsText(one bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	b.WriteString(p.derivedText(one))
	line("// Adds the points of value K that lie in the row dy away to a cell's parts; e[0] is that row's in the own column. A plane")
	line("// of the halo has but the parts that other planes take.")
	line("template <int K, bool HALO> __device__ __forceinline__ void weigh(int dy, const Real *e, Real (&part)[PARTS]) {")
	for place, s := range p.values() {
		for dy := -s.low[1]; dy <= s.high[1]; dy++ {
			var terms strings.Builder
			for i, k := range p.patterns {
				if k.place != place {
					continue
				}
				halo := ""
				if k.ownPlane() {
					halo = "if (!HALO) "
				}
				for _, at := range k.points {
					if at.DY == dy {
						fmt.Fprintf(&terms, "    %spart[%d] = %s;\n", halo, i, added(fmt.Sprintf("part[%d]", i), k.weight(at), fmt.Sprintf("e[%d]", at.DX)))
					}
				}
			}
			if terms.Len() > 0 {
				line("  if (K == %d && dy == %d) {\n%s  }", place, dy, terms.String())
			}
		}
	}
	line("}\n\n// A part that belongs to one sum goes on with it; others begin with nothing.")
	line("__device__ __forceinline__ void begin_parts(Real (&part)[PARTS][ROWS][VECTOR], const Real (&sum)[OPEN > 0 ? OPEN : 1][ROWS][VECTOR], int j, int i) {")
	for i, k := range p.patterns {
		from := "Real(-0.0)" // adds nothing
		if p.continues(i) {
			u := k.users[0]
			if m := p.high - u.dz; m < p.slots(u.sum) {
				from = fmt.Sprintf("sum[%d][j][i]", p.sums[u.sum].base+m)
			}
		}
		line("  part[%d][j][i] = %s;", i, from)
	}
	line("}\n\n// Adds a plane's parts to the open sums: those of a plane are complete, the others move on by one.")
	line("__device__ __forceinline__ void collect(Real (&result)[SUMS][ROWS][VECTOR], Real (&sum)[OPEN > 0 ? OPEN : 1][ROWS][VECTOR], const Real (&part)[PARTS][ROWS][VECTOR], Real nothing, int j, int i) {")
	for s := range p.sums {
		for m := 0; m <= p.slots(s); m++ {
			value, begun := "", false
			for i, k := range p.patterns {
				if p.continues(i) && k.users[0].sum == s && p.high-k.users[0].dz == m {
					value, begun = fmt.Sprintf("part[%d][j][i]", i), true
				}
			}
			if !begun && m < p.slots(s) {
				value = fmt.Sprintf("sum[%d][j][i]", p.sums[s].base+m)
			}
			for i, k := range p.patterns {
				if begun && p.continues(i) && k.users[0].sum == s && p.high-k.users[0].dz == m {
					continue
				}
				for _, u := range k.users {
					if u.sum != s || p.high-u.dz != m {
						continue
					}
					value = added(value, u.factor*k.unit(), fmt.Sprintf("part[%d][j][i]", i))
				}
			}
			if value == "" {
				value = "nothing"
			}
			if m == 0 {
				line("  result[%d][j][i] = %s;", s, value)
			} else {
				line("  sum[%d][j][i] = %s; // dz = %d", p.sums[s].base+m-1, value, p.high-m)
			}
		}
	}
	line("}")
	return b.String()
}

// slots counts the open sums of a sum.
func (p *stage) slots(s int) int { return p.high + p.sums[s].low }

// continues tells whether a pattern's part goes on with its sum: it has one user, whose sum of that plane no
// other pattern goes on with.
func (p *stage) continues(i int) bool {
	k := p.patterns[i]
	if k.shared() {
		return false
	}
	first := slices.IndexFunc(p.patterns, func(q pattern) bool {
		return !q.shared() && q.users[0].sum == k.users[0].sum && q.users[0].dz == k.users[0].dz
	})
	return first == i
}

// unit is what a shared pattern of one point is divided by: its part is the point itself.
func (k pattern) unit() float64 {
	if k.shared() && len(k.points) == 1 {
		return k.points[0].Weight
	}
	return 1
}

func (k pattern) weight(at point) float64 { return at.Weight / k.unit() }

// added is a sum, if there is one, and a weight times a value.
func added(sum string, weight float64, value string) string {
	number := "Real(" + strconv.FormatFloat(weight, 'g', -1, 64) + ")"
	switch {
	case sum == "" && weight == 1:
		return value
	case sum == "":
		return "nothing + " + number + " * " + value
	case weight == 1:
		return sum + " + " + value
	}
	return sum + " + " + number + " * " + value
}
