package host_test

import (
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// Where the parts of a row are stored by other threads than those that compute them, each cell is folded and recorded by the one that does.
func TestCellsOfRowsStoredInPartsCountOnce(t *testing.T) {
	d := open(t, host.Options{})
	var cases []verify.Case
	for text, fused := range map[string]string{
		"Boundary fixed InputRange (0.5, 1.5) StepScalar sum s { return get(0, 0); } StepScalar max most { return get(0, 0); } CellValue { return 0.2 * (get(-1, 0) + get(1, 0) + get(0, -1)) + s / (input_size.x * input_size.y * most) * get(0, 0); }": "1",
		"Boundary (clamp, mirror) StepScalar sum s { return get(0, 0); } CellValue { return 0.5 * sin(get(1, 0)) + s / (input_size.x * input_size.y); }":                                                                                                 "1",
		"Boundary clamp Fields (u) CellValue { return 0.5 * sin(get(0, 0)) + 0.2 * get(1, 0) + 0.2 * get(0, -1); } Sources s (u) { return 0.5 * get(0, 0) + value; } Receivers r { return get(0, 0); }":                                                  "2",
	} {
		cases = append(cases, onWidths(t, "NumDimensions 2 StencilSize (1, 1) "+text, stencil.Float64, "pipeline/vx=4/vy=1/wp=4/ck=8/pf=1/mb=1/ph="+fused, 133, 261)...)
	}
	devicetest.Check(t, d, cases)
}

// Elements of an array may be wider than the others, and a vector of them more than is copied at once.
func TestWiderElementsInRowsOfAnyLength(t *testing.T) {
	d := open(t, host.Options{})
	var cases []verify.Case
	for text, dtype := range map[string]stencil.DType{
		"Fields (u: float64) CellValue { return 0.5 * get(u, 0, 0, 0) * get(u, 0, 0, 0) + 0.1 * (get(u, 0, 0, 1) + get(u, 1, 0, 0)); }":            stencil.Float32,
		"Fields (u) ReadOnly (k: float64) CellValue { return 0.5 * get(u, 0, 0, 0) * get(k, 1, 0, 0) + 0.1 * get(u, 0, 0, 1) * get(k, 0, 1, 0); }": stencil.Float32,
		"Fields (u: float32) CellValue { return 0.5 * get(u, 0, 0, 0) * get(u, 0, 0, 0) + 0.1 * (get(u, 0, 0, 1) + get(u, 1, 0, 0)); }":            stencil.Float16,
	} {
		for _, schedule := range []string{"pipeline/vx=2/vy=1/wp=8/ck=1/pf=1/mb=1/ph=1", "pipeline/vx=4/vy=1/wp=8/ck=1/pf=1/mb=1/ph=2"} {
			for _, width := range []int{129, 130} {
				cases = append(cases, onGrids(t, "NumDimensions 3 StencilSize (1, 1, 1) "+text, dtype, schedule, stencil.Size{width, 9, 8})...)
			}
		}
	}
	devicetest.Check(t, d, cases)
}

// onWidths are cases of a program by a schedule, on grids of 9 rows of so many cells each.
func onWidths(t *testing.T, text string, dtype stencil.DType, schedule string, widths ...int) []verify.Case {
	var sizes []stencil.Size
	for _, width := range widths {
		sizes = append(sizes, stencil.Size{width, 9, 1})
	}
	return onGrids(t, text, dtype, schedule, sizes...)
}

// onGrids are cases of a program by a schedule.
func onGrids(t *testing.T, text string, dtype stencil.DType, schedule string, sizes ...stencil.Size) (cases []verify.Case) {
	st := stenciltest.Parse(t, "grids", text)
	s := spacetest.Schedule(t, schedule)
	for _, n := range sizes {
		p := stencil.Problem{Stencil: st, DType: dtype, Size: n, Steps: 10}
		cases = append(cases, verify.Of(p, kernels.Find(all.Families(), s.Family()), s, 2, 3))
	}
	return cases
}
