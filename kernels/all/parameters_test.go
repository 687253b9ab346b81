package all

import (
	"reflect"
	"slices"
	"testing"

	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
)

// zigzag reverses every other row of blocks: a launch does the same, in another order.
const zigzag = "zz"

// TestEveryParameterCounts: of each parameter of each family there are two legal schedules that
// differ in it alone and in their kernels, and two that differ in what is counted of their
// launches. So a parameter that a family's text or its Work does not know is no silent one.
func TestEveryParameterCounts(t *testing.T) {
	problems := []stencil.Problem{
		catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{256, 256, 256}),
		catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{2048, 2048, 1}),
		catalogued(t, "gradient2d", stencil.Float32, stencil.Size{2048, 2048, 1}),
		catalogued(t, "srad2", stencil.Float32, stencil.Size{1024, 1024, 1}),      // of several stages
		catalogued(t, "acoustic3d", stencil.Float32, stencil.Size{256, 256, 256}), // of sums and a rest
	}
	for _, f := range Families() {
		left := map[string][]string{} // what no pair has shown yet, by parameter
		for _, p := range problems {
			own := f.Space(p, machinetest.H200())
			legal := space.New(own)
			for _, q := range own.Params {
				if _, known := left[q.Name]; !known && len(q.Values) > 1 {
					left[q.Name] = slices.DeleteFunc([]string{"kernel", "work"}, func(w string) bool { return w == "work" && q.Name == zigzag })
				}
			}
			n := 0
			for s := range legal.All() {
				if n++; n%37 != 1 {
					continue
				}
				values, err := own.Values(s)
				if err != nil {
					t.Fatal(err)
				}
				for i, q := range own.Params {
					if len(left[q.Name]) == 0 {
						continue
					}
					for _, v := range q.Values {
						changed := slices.Clone(values)
						changed[i] = v
						other := space.Make(f.Name(), own.Params, changed)
						if other == s || legal.Check(other) != nil {
							continue
						}
						k, l := f.Kernel(p, s), f.Kernel(p, other)
						if k.SourceHash() != l.SourceHash() || k.Launch != l.Launch {
							left[q.Name] = slices.DeleteFunc(left[q.Name], func(w string) bool { return w == "kernel" })
						}
						if !reflect.DeepEqual(f.Work(p, s), f.Work(p, other)) {
							left[q.Name] = slices.DeleteFunc(left[q.Name], func(w string) bool { return w == "work" })
						}
					}
				}
			}
		}
		for name, what := range left {
			if len(what) > 0 {
				t.Errorf("%s of %s changes no %v: write it into the family's text, and count it", name, f.Name(), what)
			}
		}
	}
}
