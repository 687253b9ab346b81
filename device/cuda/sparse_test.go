package cuda

import (
	"context"
	"testing"
	"time"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// listProblem is the copy of copyProblem with a list of sources that change nothing and one of receivers that record 0.
func listProblem(t *testing.T, n int) stencil.Problem {
	t.Helper()
	p := copyProblem(t, n, stencil.Float32)
	p.Stencil = stenciltest.Parse(t, "copy", p.Stencil.Text()+"Fields (u) Sources s (u) { return get(0); } Receivers r { return 0; }")
	return p
}

// records is a check of receivers: on the fake no list acts, so that tables stay as they are made. A kernel of two steps has no
// entries for lists.
func records(t *testing.T) {
	d := openFake(t)
	p := listProblem(t, 1000)
	one, two := fakeKernel(t, p, ""), fakeKernel(t, p, "")
	one.Source += "__global__ void copy_list_0();\n__global__ void copy_list_1();\n"
	two.Launch.Steps = 2
	for _, k := range []kernels.Kernel{one, two} {
		pass := load(t, d, k, 3)
		for _, trusted := range [][]device.Pass{nil, {pass}} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			got, err := d.Check(ctx, device.Check{Problem: p, Passes: []device.Pass{pass}, Trusted: trusted, Seed: 7, Allowed: []stencil.Allowance{{Error: 1e-6}}})
			cancel()
			if want := int64(stencil.SparsePlaces * stencil.SparseRows); err != nil || !got.OK() || got.Cells != 1000+want || got.Recorded != want {
				t.Errorf("%d steps: %+v, %v", k.Launch.Steps, got, err)
			}
		}
	}
}

func TestListsAreGivenTheirArrays(t *testing.T) {
	p := listProblem(t, 1000)
	s := &state{problem: p, now: []grid{{cells: 10}}, rows: 6, iteration: 4, sparse: []list{{grid{cells: 20}, grid{cells: 30}}, {grid{cells: 40}, grid{cells: 50}}}}
	s.next = []grid{{cells: 11}}
	lists := [][]kernels.Argument{kernels.SparseArguments(p.Stencil, 0), kernels.SparseArguments(p.Stencil, 1), kernels.Arguments(p.Stencil, 0, 2)}
	for i, want := range [][]uint64{{10, 1000, 1, 1, 4, 10, 20, stencil.SparsePlaces, 30, 6}, {10, 1000, 1, 1, 4, 40, stencil.SparsePlaces, 50, 6},
		{10, 11, 1000, 1, 1, 4, 20, stencil.SparsePlaces, 30, 6, 40, stencil.SparsePlaces, 50, 6}} {
		a := s.fillIn(newArguments(), lists[i], []int{0})
		for j, w := range want {
			if a.n != len(want) || a.values[j] != w {
				t.Errorf("list %d: %v of %d, want %v", i, a.values[:a.n], a.n, want)
				break
			}
		}
	}
}
