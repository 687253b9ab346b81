// Package devicetest checks that kernels of random legal schedules give the
// reference's answer on a device: of the catalogue's stencils and of random ones.
package devicetest

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// Cases draws n cases: textbook stencils of the catalogue and random ones, of every element
// type, each family as often whatever the size of its space.
func Cases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 1)
	var stencils []*stencil.Stencil
	for _, name := range stencil.Textbook() {
		stencils = append(stencils, stenciltest.Lookup(t, name))
	}
	for range len(stencils) {
		stencils = append(stencils, randomStencil(t, d.r))
	}
	for len(d.cases) < n {
		d.add(stencils[d.r.IntN(len(stencils))], nil)
	}
	return d.cases
}

// CatalogueCases draws n cases of each textbook stencil of the catalogue.
func CatalogueCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	return newDrawer(t, m, seed, 2).each(n, stencil.Textbook()...)
}

// ApplicationCases draws n cases of three applications, one for each thing that only they
// have: many fields of several stages, more fields than any other, three stages that are
// fused. Their kernels compile for longer than others.
func ApplicationCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	return newDrawer(t, m, seed, 3).each(n, "fdtd3d", "lbm2d", "shallowwater")
}

// SumCases draws n cases of weighted sums under every rule at the edges, of family stream, which has code of
// its own for each.
func SumCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 3)
	stream := kernels.Find(all.Families(), "stream")
	for len(d.cases) < n {
		st := stenciltest.Parse(t, "sum", randomSum(d.r))
		types := st.DTypes()
		p := stencil.Problem{Stencil: st, DType: types[d.r.IntN(len(types))]}
		if len(d.source.Legal(p, stream)) == 0 {
			continue
		}
		for range 3 {
			d.cases = append(d.cases, d.source.Draw(d.r, p, stream))
		}
	}
	return d.cases
}

// MixedCases draws n cases of random programs whose boundary rules differ by axis, side and field: every other one of pipeline, which knows
// most rules by a cell's place in its tile.
func MixedCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 4)
	pipeline := kernels.Find(all.Families(), "pipeline")
	for len(d.cases) < n {
		st := stenciltest.Parse(t, "mixed", randomMixed(d.r))
		d.add(st, nil)
		if p := (stencil.Problem{Stencil: st, DType: st.DType}); len(d.source.Legal(p, pipeline)) > 0 {
			d.cases = append(d.cases, d.source.Draw(d.r, p, pipeline))
		}
	}
	return d.cases
}

// NegativeCases are programs that turn the least numbers of 16 and 8 bits about, of all families that have them: there ptxas errs if it is let to compute in 16 bits.
func NegativeCases(t testing.TB, m machine.Machine, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 14)
	for _, text := range []string{
		"DataType int16 InputRange (-32768, -32766) CellValue { int16 a = (int16)(-get(0, 0)), b = (int16)(get(1, 0) * 65535); return a < 0 ? a / 3 : b < 0 ? b / 3 : (int16)(get(0, -1) - (get(0, 1) + get(0, -1))) / 3; }",
		"DataType uint16 InputRange (0, 100) CellValue { int64 v = (int8)(get(0, 0) * get(1, 0)); return (int8)(-v); }",
		"DataType int16 InputRange (-32768, -32766) StepScalar min m { return get(0, 0); } StepScalar q { int16 h = (int16)(-m); return h < 0 ? h / 3 : 7; } CellValue { return get(0, 1) + q; }",
		"DataType int8 InputRange (-128, -126) CellValue { return (int8)(-get(1, 0)) / 3 + get(0, 1); }",
	} {
		st := stenciltest.Parse(t, "negative", "NumDimensions 2 StencilSize (1, 1) "+text)
		p := stencil.Problem{Stencil: st, DType: st.DType}
		able, _ := d.source.Able(p)
		for _, f := range able {
			d.cases = append(d.cases, d.source.Draw(d.r, p, f))
		}
	}
	return d.cases
}

// StoredCases draws n cases of random programs whose arrays are stored in types of their own, of the named families in turn, or of all.
func StoredCases(t testing.TB, m machine.Machine, n int, seed uint64, families ...string) []verify.Case {
	return newDrawer(t, m, seed, 7).stored(n, randomStored, families)
}

// FieldCases draws n cases of random programs whose fields are stored in types of their own, of the named families in turn, or of all.
func FieldCases(t testing.TB, m machine.Machine, n int, seed uint64, families ...string) []verify.Case {
	return newDrawer(t, m, seed, 8).stored(n, randomFields, families)
}

// CoupledCases draws n cases of random programs whose fields multiply each other, of all families in turn.
func CoupledCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 12)
	for len(d.cases) < n {
		st := stenciltest.Parse(t, "coupled", randomCoupled(d.r))
		p, families := stencil.Problem{Stencil: st, DType: st.DType}, all.Families()
		for range 2 {
			if f := families[d.r.IntN(len(families))]; len(d.source.Legal(p, f)) > 0 {
				d.cases = append(d.cases, d.source.Draw(d.r, p, f))
			}
		}
	}
	return d.cases
}

// SharedCases draws n cases of random programs whose neighbouring cells compute values alike, of kernels that make stages of them.
func SharedCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 13)
	pipeline := kernels.Find(all.Families(), "pipeline")
	hides := func(s space.Schedule) bool { return s.Int("hs", 0) > 0 }
	for len(d.cases) < n {
		st := stenciltest.Parse(t, "shared", randomShared(d.r))
		p := stencil.Problem{Stencil: st, DType: st.DType}
		if !slices.ContainsFunc(d.source.Legal(p, pipeline), hides) {
			continue
		}
		c := d.source.Draw(d.r, p, pipeline)
		for !hides(c.Kernel.Schedule) {
			c = d.source.Draw(d.r, p, pipeline)
		}
		d.cases = append(d.cases, c)
	}
	return d.cases
}

// drawer draws cases from one stream of random numbers.
type drawer struct {
	t      testing.TB
	r      *rand.Rand
	source *verify.Source
	cases  []verify.Case
}

// newDrawer logs the seed; stream tells the kinds of cases apart that have the same.
func newDrawer(t testing.TB, m machine.Machine, seed, stream uint64) *drawer {
	t.Helper()
	t.Logf("seed %d", seed)
	return &drawer{t: t, r: rand.New(rand.NewPCG(seed, stream)), source: verify.NewSource(m, all.Families())}
}

// each draws n cases of each of some stencils of the catalogue.
func (d *drawer) each(n int, stencils ...string) []verify.Case {
	for _, name := range stencils {
		st := stenciltest.Lookup(d.t, name)
		for enough := len(d.cases) + n; len(d.cases) < enough; {
			d.add(st, nil)
		}
	}
	return d.cases
}

// stored draws n cases of random programs, of the named families in turn; none named = of all.
func (d *drawer) stored(n int, program func(*rand.Rand) string, families []string) []verify.Case {
	for len(d.cases) < n {
		st := stenciltest.Parse(d.t, "stored", program(d.r))
		f := all.Families()[len(d.cases)%len(all.Families())]
		if len(families) > 0 {
			f = kernels.Find(all.Families(), families[len(d.cases)%len(families)])
		}
		d.add(st, f)
	}
	return d.cases
}

// add draws one more case of a stencil and a family, nil = any, if it can be judged.
func (d *drawer) add(st *stencil.Stencil, f kernels.Family) {
	families, types := all.Families(), st.DTypes()
	p := stencil.Problem{Stencil: st, DType: types[d.r.IntN(len(types))]}
	if f == nil {
		f = families[d.r.IntN(len(families))]
	}
	if len(d.source.Legal(p, f)) == 0 {
		return
	}
	c := d.source.Draw(d.r, p, f)
	if p.DType.Size() == 2 && stencil.Tolerance(c.Problem, c.Steps()) > 1 { // sums that leave the type's range
		return
	}
	d.cases = append(d.cases, c)
}

// randomStencil is a random mean or, as often, a random program.
func randomStencil(t testing.TB, r *rand.Rand) *stencil.Stencil {
	t.Helper()
	src := randomMean(r)
	if r.IntN(2) == 0 {
		src = RandomProgram(r)
	}
	// Fields that may be temporary are, as often as not.
	if st, err := stencil.Parse("random", "random.sl", src); err == nil && len(st.Stages) > 1 {
		for _, f := range st.Fields {
			with := src + " Temporary (" + f.Name + ")"
			if _, err := stencil.Parse("random", "random.sl", with); err == nil && r.IntN(2) == 0 {
				src = with
				break
			}
		}
	}
	return stenciltest.Parse(t, "random", src)
}

// NamedCase is the case of a failure's report, of a stencil of the catalogue: its name as
// Case.Name prints it.
func NamedCase(t testing.TB, name string, launches int, seed uint32) verify.Case {
	t.Helper()
	parts := strings.SplitN(name, "/", 4)
	if len(parts) < 4 {
		t.Fatalf("case %q: want stencil/dtype/size/schedule", name)
	}
	st := stenciltest.Lookup(t, parts[0])
	d, err := stencil.ParseDType(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	size, err := stencil.ParseSize(parts[2], st.Dims)
	if err != nil {
		t.Fatal(err)
	}
	s := spacetest.Schedule(t, parts[3])
	p := stencil.Problem{Stencil: st, DType: d, Size: size, Steps: 1}
	return verify.Of(p, kernels.Find(all.Families(), s.Family()), s, launches, seed)
}

// Check runs cases on a device and reports every wrong one.
func Check(t testing.TB, d device.Device, cases []verify.Case) {
	t.Helper()
	checked := 0
	type compiled struct {
		n             int
		sum, longest  float64
		longestOfThem string
	}
	families := map[string]compiled{}
	var shares []float64 // of the bound, that errors are
	err := verify.Run(context.Background(), d, cases, func(c verify.Case, r verify.Result) bool {
		checked++
		f := families[c.Kernel.Schedule.Family()]
		f.n++
		f.sum += r.CompileSeconds
		if r.CompileSeconds > f.longest {
			f.longest, f.longestOfThem = r.CompileSeconds, c.Name()
		}
		families[c.Kernel.Schedule.Family()] = f
		if r.Failure == nil && c.Problem.DType.Floating() {
			shares = append(shares, r.Share)
		}
		if fault := r.Fault(); fault != "" {
			t.Errorf("%s, %d launches, seed %d: %s\n%s", r.Name(c), c.Launches, c.Seed, fault, c.Problem.Stencil.Text())
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d schedules checked", checked, len(cases))
	if slices.Sort(shares); len(shares) > 0 {
		t.Logf("right kernels err by %.2g of their bound in the median of %d, by %.2g at most", shares[len(shares)/2], len(shares), shares[len(shares)-1])
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		t.Logf("compiling %s: %.2f s each, at most %.2f s: %s", name, f.sum/float64(f.n), f.longest, f.longestOfThem)
	}
}
