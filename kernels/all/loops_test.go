package all

import (
	"regexp"
	"testing"

	"stenciltune/kernels"
	"stenciltune/machine/machinetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// A constexpr function with a loop in it may stay a loop in the kernel, run again for every
// cell, where its argument is known only once another loop is unrolled (docs/decisions/0015-compile-time.md).
func TestNoConstexprFunctionLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at a million schedules, one after the other")
	}
	loops := regexp.MustCompile(`constexpr \w+ \w+\([^)]*\) \{[^}]*\b(for|while)\b`)
	if !loops.MatchString("__host__ __device__ constexpr int count(int n) {\n  int c = 0;\n  for (int a = 0; a < n; a++) c += reads(a);") {
		t.Fatal("the pattern finds no loop")
	}
	for _, name := range stencil.Names() {
		st := stenciltest.Lookup(t, name)
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 1000}
		n := 0
		for s := range kernels.Spaces(Families(), p, machinetest.H200()).All() {
			if n++; n%4999 == 1 {
				if text := loops.FindString(kernels.Find(Families(), s.Family()).Kernel(p, s).Source); text != "" {
					t.Errorf("%s %s: %s", name, s, text)
				}
			}
		}
	}
}
