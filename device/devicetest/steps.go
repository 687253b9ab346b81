package devicetest

import (
	"testing"

	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/stencil/stenciltest"
)

// stepPrograms are programs whose step scalars, sources and receivers use all that they may: each fold, chains of looks at the grid, several
// lists, every kind of array, rule and element.
var stepPrograms = []string{
	"NumDimensions 3 StencilSize (1, 2, 1) Boundary (wrap, mirror, fixed) InputRange (0.5, 1.5) ScalarVariables (float w = 0.3) StepScalar max hi { return get(0, 2, 1) + w * get(0, 0, 0); } " +
		"StepScalar min lo { return fabs(get(0, 0, 0)); } StepScalar dt { return w / (2 + hi * iteration); } StepScalar sum spread { return (get(0, 0, 0) - dt) * (get(1, -2, 0) - dt); } " +
		"StepScalar norm { return sqrt(fabs(spread) / (input_size.x * input_size.y * input_size.z)); } " +
		"CellValue { return dt * (get(-1, 0, 0) + get(1, 0, 0) + get(0, -2, 0) + get(0, 1, 0) + get(0, 0, 1)) + norm * get(0, 0, 0) * lo / hi; }",
	"NumDimensions 1 StencilSize (3) DataType int InputRange (-100, 100) Fields (u, v) ReadOnly (m: int16, p[x]) Boundary constant 7 StepScalar min low { return get(u, 2) - get(v, -1) + read(m, get(u, 0)) + get(p, 0); } " +
		"StepScalar sum total { return get(u, 0); } StepScalar max high { return get(m, 3); } StepScalar rest { return total / 2 + low; } " +
		"CellValue { return get(u, -3) / 2 + low + get(p, 1), get(u, 0) % 17 + rest + high; }",
	// Integers whose floating-point operations must each be rounded as C rounds them: quotients are no products, products join no sums.
	"NumDimensions 1 StencilSize (1) DataType int Fields (u) InputRange (0, 4900) StepScalar max most { return (int)(0.3f * get(1) + 0.7f * get(0)); } " +
		"CellValue { return ((int)(get(0) / 49.0) * 49 + (int)(0.3f * get(-1) + 0.7f * get(1)) + (int)(get(1) / sqrt(get(0) + 1.0)) + most) % 4901; } " +
		"Sources s (u) { return (int)(get(0) / 7.0f + 0.1 * (value % 100)); } Receivers r { return (int)(get(0) * 0.01 + get(1) / 3.0f); } Boundary constant 49",
	"NumDimensions 2 StencilSize (1, 1) InputRange (0.5, 1.5) StepScalar grown { return exp(0.01 * iteration); } StepScalar k { return 0.2 / (1 + grown); } CellValue { return k * (get(-1, 0) + get(1, 0) + get(0, 1) + get(0, -1)) + 0.3 * get(0, 0); }",
	"NumDimensions 2 StencilSize (2, 1) DataType float16 StepScalar max most { return fabs(get(2, 0) - get(0, 0)); } CellValue { return (get(-2, 0) + get(2, 0) + get(0, 1) + get(0, -1)) * 0.2 / (1 + most); }",
	"NumDimensions 2 StencilSize (1, 1) Fields (u, g) Temporary (g) Stages (along, across) EdgeValue u { return 0.5 * value + 0.01 * x; } EdgeValue g { return 0; } " +
		"StepScalar sum s { return x < y ? get(u, 1, 0) * get(u, 0, 0) : 0; } StepScalar k { return s / (input_size.x * input_size.y); } " +
		"CellValue along (g) { return k * get(u, -1, 0) + 0.1 * get(u, 0, 1); } CellValue across (u) { return 0.4 * sin(get(g, 0, 0)) + 0.3 * get(g, 0, -1) + k; }",
	"NumDimensions 2 StencilSize (1, 2) Fields (u, flux) Temporary (flux) Boundary fixed Stages (p, q) StepScalar max most { return fabs(get(u, 1, 0)); } CellValue p (flux) { return get(u, 1, 0) * get(u, 0, -2) - sin(get(u, 0, 0)) / (1 + most); } " +
		"CellValue q (u) { return get(u, 0, 0) + 0.1 * (get(flux, 0, 0) - get(flux, -1, 0)) + 0.01 * get(flux, 0, 1); }",
	corpusStencils["steps3d"],
	"NumDimensions 3 StencilSize (1, 2, 1) Boundary constant 0.5 Fields (p, old) ReadOnly (m, k: float16, d[z]) ScalarVariables (float w = 0.3) InputRange (0.5, 1.5) InputRange shot (-4, 4) " +
		"CellValue { return 0.3 * (get(p, -1, 0, 0) + get(p, 0, 2, 0) + get(p, 0, 0, 1)) + 0.1 * get(m, 0, 0, 0) - 0.1 * get(old, 0, 0, 0), get(p, 0, 0, 0); } " +
		"Sources shot (p) { return get(p, 0, 0, 0) * 0.5 + w * value * get(m, 0, 0, 0) / get(k, 0, 0, 0) + 0.01 * (x + y - z); } Receivers trace { return get(p, -1, 2, 1) + get(old, 0, 0, 0) * get(d, -1); }",
	"NumDimensions 1 StencilSize (3) DataType int InputRange (-100, 100) Fields (u, v) Boundary mirror Receivers before { return get(u, -3) - get(v, 0); } Sources a (v) { return value - 3 * get(v, 0) + iteration; } " +
		"CellValue { return get(u, -3) / 2 + get(v, 1), get(u, 0) % 17; } Sources b (u) { return get(u, 0) / 2 + get(v, 0) * value; } Receivers after { return get(v, 2) % 1000; }",
	"NumDimensions 2 StencilSize (1, 1) DataType float16 EdgeValue { return 0.5 * value + 0.01 * x; } StepScalar max most { return fabs(get(0, 0)); } CellValue { return (get(-1, 0) + get(1, 0) + get(0, 1) + get(0, -1)) * 0.2 / (1 + most); } " +
		"Fields (u) Sources s (u) { return most * value + 0.25 * get(0, 0); } Receivers r { return get(1, 1) > 0 ? get(0, 0) : sqrt(fabs(get(0, -1))); }",
	"NumDimensions 2 StencilSize (1, 1) Fields (u, g) Temporary (g) Stages (along, across) Boundary (wrap, fixed) CellValue along (g) { return get(u, -1, 0) + 0.1 * get(u, 0, 1); } " +
		"CellValue across (u) { return 0.4 * sin(get(g, 0, 0)) + 0.3 * get(u, 0, -1); } Sources s (u) { return get(u, 0, 0) + value; } Receivers r { return get(u, -1, 1); }",
}

// storedPrograms are programs whose step scalars begin with what can be folded where a step stores its cells: of several fields, some
// of which no stage sets or an earlier one does, of copies, read-only arrays and positions, with numbers that another look must give,
// and of fields that sources change after they are stored, which must not be folded there, beside others that may.
var storedPrograms = []string{
	"NumDimensions 2 StencilSize (1, 1) Boundary fixed InputRange (0.5, 1.5) StepScalar sum s { return get(0, 0); } StepScalar max hi { return get(0, 0) * (1 + x); } StepScalar min lo { return get(0, 0) + 0.1 * y; } " +
		"StepScalar mean { return s / (input_size.x * input_size.y); } CellValue { return 0.2 * (get(-1, 0) + get(1, 0) + get(0, 1) + get(0, -1)) + mean * get(0, 0) / (hi + lo); }",
	"NumDimensions 2 StencilSize (1, 1) Fields (u, v) InputRange (0.5, 1.5) StepScalar sum s { return get(u, 0, 0) + 0.5 * get(v, 0, 0); } StepScalar max most { return get(v, 0, 0); } StepScalar mean { return s / (input_size.x * input_size.y); } " +
		"CellValue { return 0.2 * (get(u, -1, 0) + get(u, 1, 0)) + 0.1 * get(v, 0, 1) * mean, 0.5 * get(v, 0, 0) + 0.2 * get(u, 0, -1) * mean / most; } Sources shot (u) { return get(u, 0, 0) + (3 + value) * most; } Receivers trace { return get(u, 0, -1) * mean; }",
	corpusStencils["stored3d"],
	"NumDimensions 1 StencilSize (2) DataType int InputRange (-100, 100) Fields (u, v) ReadOnly (m: int16, p[x]) Boundary constant 3 StepScalar sum s { return get(u, 0) * read(m, x + 1) - get(v, 0) + get(p, 1); } StepScalar max high { return get(v, 0) + iteration; } " +
		"StepScalar rest { return s / 7 - high; } CellValue { return get(u, -2) / 2 + rest % 19, get(u, 0); }",
	"NumDimensions 3 StencilSize (1, 1, 1) Boundary (mirror, clamp, wrap) InputRange (0.5, 1.5) Fields (u, v, w) Temporary (w) Stages (p, q) ReadOnly (k) StepScalar sum s { return get(u, 0, 0, 0) * get(v, 0, 0, 0) * get(k, 0, 0, 0); } StepScalar n { return s / (input_size.x * input_size.y * input_size.z); } " +
		"CellValue p (w) { return get(u, 1, 0, 0) + n * get(u, 0, -1, 0); } CellValue q (u, v) { return 0.3 * get(w, 0, 0, 1) + 0.2 * get(w, -1, 0, 0), get(v, 0, 0, 0) / (1 + fabs(n)) + 0.1 * get(w, 0, 0, 0); }",
	"NumDimensions 2 StencilSize (1, 2) Boundary x (fixed, clamp) Fields (a, b) Stages (p, q) StepScalar max most { return fabs(get(a, 0, 0)) + fabs(get(b, 0, 0)); } StepScalar sum about { return get(a, 1, 0) - most; } " +
		"CellValue p (a) { return get(a, 0, 0) / (1 + most) + 0.1 * get(a, 0, -2); } CellValue q (b) { return get(b, 1, 0) * 0.5 + 0.2 * get(a, 0, 1) + about / (1 + fabs(about)); }",
	"NumDimensions 3 StencilSize (1, 1, 1) Boundary wrap Fields (u, v) InputRange (0.5, 1.5) StepScalar max most { return fabs(get(v, 0, 0, 0)); } StepScalar sum s { return get(v, 0, 0, 0); } StepScalar mean { return s / (input_size.x * input_size.y * input_size.z); } " +
		"CellValue { return 0.3 * get(u, 0, 0, 1) + 0.2 * get(v, -1, 0, 0) / most, 0.6 * get(v, 0, 0, 0) + 0.1 * get(u, 0, -1, 0) * mean; } Sources shot (u) { return get(u, 0, 0, 0) * 0.5 + value * mean; } Receivers trace { return get(v, 0, 0, -1) + most; }",
	"NumDimensions 2 StencilSize (1, 1) Fields (older, old, u) InputRange (0.5, 1.5) StepScalar max most { return fabs(get(older, 0, 0) - get(u, 0, 0)) + get(old, 0, 0); } StepScalar sum s { return get(older, 0, 0) * get(old, 0, 0); } " +
		"CellValue { return get(old, 0, 0), get(u, 0, 0), 0.3 * get(u, 0, 0) + 0.2 * get(u, 1, 0) / most + 0.1 * get(old, 0, -1) + 0.1 * s / (1 + fabs(s)); }",
}

// StepCases draws n cases of programs with step scalars, sources and receivers, every other one of families that fold where they store.
func StepCases(t testing.TB, m machine.Machine, n int, seed uint64) []verify.Case {
	d := newDrawer(t, m, seed, 9)
	storing := []kernels.Family{kernels.Find(all.Families(), "global"), kernels.Find(all.Families(), "pipeline")}
	for i := 0; len(d.cases) < n; i++ {
		programs := stepPrograms
		var f kernels.Family // any
		if i%2 == 1 {
			programs, f = storedPrograms, storing[d.r.IntN(len(storing))]
		}
		d.add(stenciltest.Parse(t, "steps", programs[i/2%len(programs)]), f)
	}
	return d.cases
}
