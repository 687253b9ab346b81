// Package matmultest draws products of matrices and checks them on a device: hard kernels
// that are no stencils.
package matmultest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"stenciltune/device"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
)

// Product is one random schedule of workload matmul on one random size.
type Product struct {
	Problem stencil.Problem
	Kernel  kernels.Kernel
}

// Draw draws n products, square or not, each schedule once.
func Draw(t testing.TB, m machine.Machine, n int, seed uint64) []Product {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	lists := map[string][]space.Schedule{}
	seen := map[string]bool{}
	var list []Product
	for len(list) < n {
		f := matmul.Families()[r.IntN(2)]
		p := stencil.Problem{Stencil: matmul.Stencil(), DType: matmul.DTypes()[r.IntN(2)], Size: stencil.Size{2048, 2048, 1}, Steps: 1}
		key := f.Name() + string(p.DType)
		if lists[key] == nil {
			lists[key] = slices.Collect(space.New(f.Space(p, m)).All())
		}
		p.Size = stencil.Size{1 + r.IntN(150), 1 + r.IntN(90), 1}
		if r.IntN(2) == 0 {
			p.Size[1] = p.Size[0]
		}
		k := f.Kernel(p, lists[key][r.IntN(len(lists[key]))])
		if !seen[k.Entry] {
			seen[k.Entry] = true
			list = append(list, Product{p, k})
		}
	}
	return list
}

// Check runs a product twice on a device and compares it with the judge of its
// element type.
func Check(ctx context.Context, d device.Device, c Product, main, judge device.Binary, seed uint32) error {
	cmp, err := d.Check(ctx, device.Check{Problem: c.Problem, Seed: seed, Allowed: []stencil.Allowance{{Error: matmul.Tolerance(c.Problem)}},
		Passes:  []device.Pass{{Binary: main, Launch: c.Kernel.Launch, Count: 2}},
		Trusted: []device.Pass{{Binary: judge, Launch: matmul.Judge(c.Problem).Launch, Count: 2}}})
	if err != nil {
		return fmt.Errorf("%s/%s: %w", c.Problem.Text(), c.Kernel.Schedule, err)
	}
	if !cmp.OK() {
		return fmt.Errorf("%s/%s: %s", c.Problem.Text(), c.Kernel.Schedule, cmp.Reason(c.Problem.Size))
	}
	return nil
}
