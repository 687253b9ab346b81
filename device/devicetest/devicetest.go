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

// randomStencil is the mean of up to seven random points, or nearly so, in one to three
// dimensions: its reach differs from axis to axis and from side to side.
func randomStencil(t testing.TB, r *rand.Rand) *stencil.Stencil {
	t.Helper()
	dims := 1 + r.IntN(3)
	extents := make([]string, dims)
	for a := range extents {
		extents[a] = "3"
	}
	points := 1 + r.IntN(7)
	var terms []string
	for range points {
		offset := make([]string, dims)
		for a := range offset {
			reach := 1 + r.IntN(3)
			offset[a] = fmt.Sprint(r.IntN(2*reach+1) - reach)
		}
		terms = append(terms, "get("+strings.Join(offset, ", ")+")")
	}
	if r.IntN(3) == 0 { // no weighted sum
		terms[0] = "fmax(" + terms[0] + ", " + terms[points-1] + ")"
	}
	src := fmt.Sprintf("NumDimensions %d StencilSize (%s) CellValue { return %.6f * (%s); }",
		dims, strings.Join(extents, ", "), 1/float64(points), strings.Join(terms, " + "))
	st, err := stencil.Parse("random", "random.sl", src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return st
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
