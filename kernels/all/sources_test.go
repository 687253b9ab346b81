package all

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/kernelstest"
	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
)

// nameless is a number in generated text that nothing says a word about.
var nameless = regexp.MustCompile(`(?m)^constexpr int \w+ = [^;/]*;$`)

// leading is what pitched kernels alone have.
var leading = regexp.MustCompile(`(?i)\bld[xy]\b|pitched`)

// called is an attribute that calls a template; nvcc and the host compiler take it.
var called = regexp.MustCompile(`__align__\([^;{]*\w<\w+>\(`)

// TestEveryLineOfASourceIsWhereItSays draws schedules of every family for every stencil.
func TestEveryLineOfASourceIsWhereItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("writes many sources: nothing for the race detector")
	}
	r := rand.New(rand.NewPCG(20261122, 3))
	for _, name := range append(stencil.Textbook(), "fdtd3d", "peronamalik", "furnace") {
		st := furnace(t).Stencil
		if name != "furnace" {
			st = catalogued(t, name, "", stencil.Size{}).Stencil
		}
		size := stencil.Size{1024, 1, 1}
		for a := 1; a < st.Dims; a++ {
			size[a] = 512
		}
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: size, Steps: 10}
		for _, f := range Families() {
			n := 0
			for s := range space.New(f.Space(p, machinetest.H200())).All() {
				if r.IntN(20) != 0 {
					continue
				}
				if n++; n > 5 {
					break
				}
				k := f.Kernel(p, s)
				kernelstest.CheckLines(t, k)
				kernelstest.CheckWaits(t, k)
				if c := called.FindString(k.Source); c != "" {
					t.Errorf("%s of %s: NVRTC takes no call of a template in an attribute: %s", s, name, c)
				}
				if leading.MatchString(k.Source) {
					t.Errorf("%s of %s knows of leading dimensions", s, name)
				}
				pitched := p
				pitched.Pitched = true
				kernelstest.CheckLines(t, f.Kernel(pitched, s))
				head, _, _ := strings.Cut(k.Source, "enum Boundary")
				if c := nameless.FindString(head); c != "" {
					t.Errorf("%s of %s: %s has no doc", s, name, c)
				}
			}
		}
	}
}

// Remainder and On read a schedule's text alone: every parameter that a family says to have
// such a part must be one of those that they know, and the other way round.
func TestRolesOfParametersAreThoseOfTheFamilies(t *testing.T) {
	roles := map[string]string{}
	role := func(p space.Param) string {
		return fmt.Sprint(p.Name, " single ", p.Single, " SMs ", p.SMs)
	}
	for _, p := range kernels.Roles() {
		roles[p.Name] = role(p)
	}
	found := map[string]bool{}
	for _, p := range []stencil.Problem{
		catalogued(t, "jacobi2d", stencil.Float32, stencil.Size{4096, 4096, 1}),
		catalogued(t, "jacobi3d", stencil.Float32, stencil.Size{512, 512, 512}),
	} {
		for _, f := range Families() {
			for _, param := range f.Space(p, machinetest.H200()).Params {
				want, ok := roles[param.Name]
				found[param.Name] = true
				if ok && role(param) != want || !ok && (param.Single > 0 || param.SMs) {
					t.Errorf("family %s: %s; Remainder and On know %q", f.Name(), role(param), want)
				}
				if param.Single > 0 && param.Values[0] != param.Single {
					t.Errorf("family %s: the first of %s is not %d", f.Name(), param.Name, param.Single)
				}
			}
		}
	}
	for name := range roles {
		if !found[name] {
			t.Errorf("no family has %s", name)
		}
	}
}
