// Package devicetest makes random legal schedules of every family on grids with
// odd extents, and checks kernels on any device against the float64 reference.
package devicetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stenciltune/device"
	"stenciltune/device/machine"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Case is one random schedule of one random problem.
type Case struct {
	Problem   stencil.Problem
	Kernel    kernels.Kernel
	Remainder *kernels.Kernel // the same schedule with pyramid height 1, if it fuses steps
}

// Name is the case as a test's name.
func (c Case) Name() string { return c.Problem.Text() + "/" + c.Kernel.Schedule.String() }

// Cases draws n cases: stencils of the catalogue and random ones of any reach, both
// element types, mostly odd extents, each family as often whatever the size of its space.
// Schedules are legal for a large grid, so that tiles, columns and
// pyramids of every size occur; the small grid then cuts them in every way.
func Cases(t testing.TB, m machine.Machine, n int, seed uint64) []Case {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	type key struct {
		stencil, family int
		dtype           stencil.DType
	}
	stencils := someStencils(t, r)
	families := all.Families()
	lists := map[key][]space.Schedule{}
	var cases []Case
	for len(cases) < n {
		k := key{stencil: r.IntN(len(stencils)), family: r.IntN(len(families))}
		types := stencils[k.stencil].DTypes()
		k.dtype = types[r.IntN(len(types))]
		st := stencils[k.stencil]
		large := stencil.Problem{Stencil: st, DType: k.dtype, Size: st.DefaultSize(false), Steps: 100}
		if lists[k] == nil {
			lists[k] = slices.Collect(space.New(families[k.family].Space(large, m)).All())
		}
		if len(lists[k]) == 0 { // a reach too long for the family
			continue
		}
		s := lists[k][r.IntN(len(lists[k]))]
		p := large.Resized(randomSize(r, st.Dims))
		p.Size = suited(r, kernelOf(p, s), p.Size)
		c := Case{Problem: p, Kernel: kernelOf(p, s)}
		if p.DType.Size() == 2 && stencil.Tolerance(p, 3*c.Kernel.Launch.Steps) > 1 { // sums that leave the type's range
			continue
		}
		if c.Kernel.Launch.Steps > 1 {
			rest := kernelOf(p, kernels.Remainder(s))
			c.Remainder = &rest
		}
		cases = append(cases, c)
	}
	return cases
}

// someStencils is the catalogue and as many random stencils again, at least twelve.
func someStencils(t testing.TB, r *rand.Rand) []*stencil.Stencil {
	var list []*stencil.Stencil
	for _, name := range stencil.Names() {
		st, err := stencil.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, st)
	}
	for range max(12, len(list)) {
		list = append(list, randomStencil(t, r))
	}
	return list
}

// randomStencil is a random stencil in one to three dimensions: every other one the
// mean of up to seven random points, or nearly so, whose reach differs from axis to
// axis and from side to side; the others use the rest of the language.
func randomStencil(t testing.TB, r *rand.Rand) *stencil.Stencil {
	t.Helper()
	src := randomMean(r)
	if r.IntN(2) == 0 {
		src = randomProgram(r)
	}
	st, err := stencil.Parse("random", "random.sl", src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return st
}

// head is the keys that every file has, for a reach of three cells.
func head(dims int) string {
	return fmt.Sprintf("NumDimensions %d StencilSize (%s) ", dims, strings.TrimSuffix(strings.Repeat("3, ", dims), ", "))
}

// randomOffset is a random point, as the arguments of get.
func randomOffset(r *rand.Rand, dims int) string {
	offset := make([]string, dims)
	for a := range offset {
		reach := 1 + r.IntN(3)
		offset[a] = fmt.Sprint(r.IntN(2*reach+1) - reach)
	}
	return strings.Join(offset, ", ")
}

func randomMean(r *rand.Rand) string {
	dims, points := 1+r.IntN(3), 1+r.IntN(7)
	var terms []string
	for range points {
		terms = append(terms, "get("+randomOffset(r, dims)+")")
	}
	if r.IntN(3) == 0 { // no weighted sum
		terms[0] = "fmax(" + terms[0] + ", " + terms[points-1] + ")"
	}
	return fmt.Sprintf("%s CellValue { return %.6f * (%s); }", head(dims), 1/float64(points), strings.Join(terms, " + "))
}

// randomProgram has up to three fields, read-only arrays, scalars, one or two stages,
// any boundary rule, and cell functions that ask for the position and the iteration.
// Its values stay bounded: each is a mean.
func randomProgram(r *rand.Rand) string {
	dims := 1 + r.IntN(3)
	fields := []string{"f", "g", "h"}[:1+r.IntN(3)]
	var b strings.Builder
	b.WriteString(head(dims))
	whole := r.IntN(4) == 0
	if whole {
		b.WriteString([]string{"DataType int ", "DataType int8 ", "DataType unsigned int16 ", "DataType int64 "}[r.IntN(4)] + "InputRange (0, 100) ")
	}
	named := r.IntN(2) == 0 // the read-only array; else read() reads it
	if named {
		b.WriteString("ReadOnly (ro) ")
	}
	fmt.Fprintf(&b, "Fields (%s) ScalarVariables (%s a = %s) ", strings.Join(fields, ", "), choose(whole, "int", "float"), choose(whole, "3", "0.5"))
	edge := r.IntN(6)
	b.WriteString([]string{"Boundary clamp ", "Boundary mirror ", "Boundary wrap ", "Boundary fixed ", "Boundary constant 2 ",
		"EdgeValue { return " + choose(whole, "value + x - input_size.x", "0.5 * value + 0.001 * (x - iteration)") + "; } "}[edge])
	stage := func(name string, outputs []string) {
		fmt.Fprintf(&b, "CellValue %s (%s) { return ", name, strings.Join(outputs, ", "))
		for i := range outputs {
			var terms []string
			for range 1 + r.IntN(4) {
				terms = append(terms, fmt.Sprintf("get(%s, %s)", fields[r.IntN(len(fields))], randomOffset(r, dims)))
			}
			own := strings.TrimSuffix(strings.Repeat("0, ", dims), ", ")
			switch k := r.IntN(4); {
			case k == 0 && named:
				terms = append(terms, "get(ro, "+own+")")
			case k == 1 && named:
				terms = append(terms, "get(ro, "+randomOffset(r, dims)+")")
			case k < 2:
				terms = append(terms, "read(iteration * input_size.x + x)")
			case k == 2:
				terms = append(terms, choose(whole, "x + iteration", "0.01 * (x - iteration)"))
			}
			terms = append(terms, "a")
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(choose(whole, "", fmt.Sprintf("%.6f * ", 1/float64(len(terms)))) + "(" + strings.Join(terms, " + ") + ")")
		}
		b.WriteString("; } ")
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	if r.IntN(3) == 0 {
		b.WriteString("Stages (first, second) ")
		stage("first", fields[:1+r.IntN(len(fields))])
		stage("second", fields[r.IntN(len(fields)):])
	} else {
		stage("", fields[:1+r.IntN(len(fields))])
	}
	return b.String()
}

func choose(c bool, a, b string) string {
	if c {
		return a
	}
	return b
}

func kernelOf(p stencil.Problem, s space.Schedule) kernels.Kernel {
	return kernels.Find(all.Families(), s.Family()).Kernel(p, s)
}

// suited grows a grid to what a kernel asks of it, now and then exactly that.
func suited(r *rand.Rand, k kernels.Kernel, n stencil.Size) stencil.Size {
	for a := range n {
		if n[a] < k.Least[a] {
			n[a] = k.Least[a]
			if r.IntN(4) > 0 {
				n[a] += r.IntN(2 * k.Least[a])
			}
		}
	}
	if k.Multiple > 1 {
		n[0] = (n[0] + k.Multiple - 1) / k.Multiple * k.Multiple
	}
	return n
}

// randomSize is a small grid with odd extents, now and then thinner than a
// stencil's reach; every other time rows are whole vectors.
func randomSize(r *rand.Rand, dims int) stencil.Size {
	limit := [3][3]int{{3000, 1, 1}, {400, 150, 1}, {150, 50, 30}}[dims-1]
	size := stencil.Size{1, 1, 1}
	for a := range dims {
		size[a] = 1 + r.IntN(limit[a])
		if r.IntN(8) == 0 {
			size[a] = 1 + r.IntN(3)
		}
		size[a] |= 1
	}
	if r.IntN(2) == 0 {
		size[0] = (size[0] + 7) / 8 * 8
	}
	return size
}

// Check runs a case on a device: two launches, and one of the remainder, on a
// fresh input, all cells. rest is nil where there is no remainder.
func Check(ctx context.Context, d device.Device, c Case, main device.Binary, rest *device.Binary, seed uint32) error {
	passes := []device.Pass{{Binary: main, Launch: c.Kernel.Launch, Count: 2}}
	if rest != nil {
		passes = append(passes, device.Pass{Binary: *rest, Launch: c.Remainder.Launch, Count: 1})
	}
	cmp, err := d.Check(ctx, device.Check{Problem: c.Problem, Passes: passes, Seed: seed, Tolerance: stencil.Tolerance(c.Problem, device.Steps(passes))})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	if !cmp.OK() {
		return fmt.Errorf("%s: %s", c.Name(), cmp.Reason(c.Problem.Size))
	}
	return nil
}
