package kernels

import (
	"strings"
	"testing"

	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestListsOfPlacesForbidFusedSteps(t *testing.T) {
	st := stenciltest.Parse(t, "shot", "NumDimensions 1 StencilSize (1) Fields (u) CellValue { return get(1); } Sources s (u) { return value; } Receivers r { return get(0); }")
	p := stencil.Problem{Stencil: st, DType: st.DType, Size: stencil.Size{100, 1, 1}, Steps: 10}
	one := space.New(&space.Family{Name: "f", Params: []space.Param{{Name: "ph", Values: []int{1, 2}}}, Constraints: []space.Constraint{StepsConstraint(p, false)}})
	refused := spacetest.Schedule(t, "f/ph=2")
	if err := one.Check(refused); one.Size() != 1 || err == nil || !strings.Contains(err.Error(), "sources and receivers (r) find the grid in memory after every time step: steps cannot be fused") {
		t.Errorf("%d schedules; %v", one.Size(), err)
	}
	var text []string
	for i, l := range SparseLaunches(p, "e", 1) {
		names := []string{l.Scope + l.Entry}
		for _, a := range SparseArguments(st, i) {
			names = append(names, a.Name)
		}
		text = append(text, strings.Join(names, " "))
	}
	if got, want := strings.Join(text, "; "), "lists::list_0::e_list_0 in_0 nx ny nz iteration field place places table rows; lists::list_1::e_list_1 in_0 nx ny nz iteration place places table rows"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var names []string // of a kernel of two steps, which no launch follows
	for _, a := range Arguments(st, 0, 2) {
		names = append(names, a.Name)
	}
	if got, want := strings.Join(names, " "), "in_0 out_0 nx ny nz iteration place_0 places_0 table_0 rows_0 place_1 places_1 table_1 rows_1"; got != want || len(SparseLaunches(p, "e", 2)) > 0 || len(Arguments(st, 0, 1)) != 6 {
		t.Errorf("%s, want %s", got, want)
	}
}
