package host_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/device/devicetest"
	"stenciltune/device/host"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// A tile may end a cell or two before the grid, or begin after it: threads that hold neither its first nor its last cell read beyond.
func TestTilesNearAnEdgeReadBeyondIt(t *testing.T) {
	d := open(t, host.Options{})
	var cases []verify.Case
	for _, text := range []string{
		"Boundary x (constant 0.7, constant 0.3) CellValue { return 0.5 * sin(get(0, 0)) + 0.3 * get(3, 0) + 0.2 * get(-3, 1); }",
		"EdgeValue { return 0.5 * value + 0.01 * x; } CellValue { return 0.5 * sin(get(0, 0)) + 0.3 * get(3, 0) + 0.2 * get(-3, 1); }",
	} {
		cases = append(cases, onWidths(t, "NumDimensions 2 StencilSize (3, 1) "+text, stencil.Float32, "pipeline/vx=4/vy=1/wp=1/ck=1/pf=1/mb=1/ph=1", 129, 130, 258, 259)...)
	}
	devicetest.Check(t, d, cases)
}

// Where some arrays are mirrored and others are not, the row that stands for one outside may be one that a tile near the edge does not hold:
// nothing needs it then, and it is not looked for outside of what the tile has.
func TestMirroredRowsAreOfTheTile(t *testing.T) {
	var sizes []stencil.Size
	for ny := 27; ny < 35; ny++ {
		sizes = append(sizes, stencil.Size{66, ny, 9})
	}
	devicetest.Check(t, open(t, host.Options{}), onGrids(t, "NumDimensions 3 StencilSize (1, 4, 1) Fields (u, v) Boundary clamp Boundary u y mirror Stages (first, second) "+
		"CellValue first (u) { return 0.4 * get(u, 0, 0, 1) + 0.5 * fabs(get(v, 0, 1, 0)); } CellValue second (v) { return 0.5 * fabs(get(u, 1, 4, -1)) + 0.4 * get(u, 0, -4, 0); }",
		stencil.Float32, "pipeline/vx=2/vy=1/wp=12/ck=1/pf=1/mb=1/ph=1", sizes...))
}

// Each output of a stage is computed apart, and held where the whole stage reads beyond the grid.
func TestOutputsAreHeldByTheirStagesBox(t *testing.T) {
	var texts []string
	for _, boundary := range []string{"fixed", "(clamp, (clamp, fixed))"} {
		texts = append(texts, "NumDimensions 2 StencilSize (1, 1) Fields (p, q) Boundary "+boundary+" Stages (first, second) "+
			"CellValue first (p, q) { return 0.5 * get(p, 1, 1), 0.9 * get(p, 0, 0); } CellValue second (p) { return 0.3 * get(p, 0, 0) + 0.5 * get(q, 0, 1); }")
	}
	checkDrawn(t, 36, 2, "pipeline", texts...)
}

// A stage that reads no array is computed in planes before the first that is written, too, also where nothing is loaded.
func TestAStageThatReadsNothingIsComputedAround(t *testing.T) {
	checkDrawn(t, 37, 3, "pipeline",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, g) Stages (first, second) CellValue first (g) { return 3 * x + y; } CellValue second (u) { return get(g, -1, -1) + 0.5 * get(g, 0, 1); }",
		"NumDimensions 2 StencilSize (2, 2) DataType int16 Fields (u: int8, g: int8) Boundary constant 2 Stages (first, second) CellValue first (g) { return -3 * x; } CellValue second (u) { return get(g, -2, -2) % 7; }",
		"NumDimensions 3 StencilSize (2, 2, 2) Boundary mirror ReadOnly (k: float16) Fields (u, g) Stages (first, second) CellValue first (g) { return x + 2 * y - 3 * z + iteration; } "+
			"CellValue second (u) { return get(g, -2, 0, -2) + 0.5 * get(g, 1, 0, 1) + 0.25 * get(u, 0, 0, 0) + get(k, 0, 0, 0); }")
}

// Found by reading: rows that others read where read-only arrays alone are mirrored; lists that read what no stage does; numbers outside that 16 bits
// round; weights whose product float32 does not hold.
func TestWhatAReadingFound(t *testing.T) {
	checkDrawn(t, 38, 1, "pipeline",
		"NumDimensions 3 StencilSize (1, 1, 1) Fields (u) ReadOnly (k) Boundary k mirror CellValue { return 0.2 * (get(u, -1, 0, 0) + get(u, 0, 1, 0) + get(u, 0, -1, 0) + get(u, 0, 0, 1)) * (1 - 0.1 * get(k, 1, 0, 0) * get(u, 0, 0, 0)); }",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, m) Sources shot (u) { return get(u, 0, 0) + get(m, 0, 0) * value; } CellValue (u) { return 0.2 * (get(u, -1, 0) + get(u, 0, 1) + get(u, 0, 0) * get(u, 0, 0)); }",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, m) Receivers trace { return get(m, 0, 0); } CellValue (u) { return 0.2 * (get(u, -1, 0) + get(u, 0, 1) + get(u, 0, 0) * get(u, 0, 0)); }")
	checkDrawn(t, 39, 1, "global pipeline stream",
		"NumDimensions 2 StencilSize (1, 1) DataType float16 Boundary constant 1.003 InputRange (0.5, 1) CellValue { return 1000 * (get(-1, 0) - 1.003) * fabs(get(0, 0)); }",
		"NumDimensions 2 StencilSize (1, 1) Fields (u, o) InputRange u (1e-30, 2e-30) CellValue (o) { float a = 1e25 * (get(u, -1, 0) + get(u, 1, 0)); return 1e25 * (a - 2e25 * get(u, 0, 0)) + 1e25 * (0.5 * a + 0.25e25 * get(u, 0, 1)); }")
}

// checkDrawn checks so many schedules of each of some families for each program, drawn by a seed.
func checkDrawn(t *testing.T, seed uint64, each int, families string, texts ...string) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	source, r := verify.NewSource(d.Machine(), all.Families()), rand.New(rand.NewPCG(1, seed))
	var cases []verify.Case
	for _, text := range texts {
		st := stenciltest.Parse(t, "drawn", text)
		for name := range strings.FieldsSeq(families) {
			for range each {
				cases = append(cases, source.Draw(r, stencil.Problem{Stencil: st, DType: st.DType}, kernels.Find(all.Families(), name)))
			}
		}
	}
	devicetest.Check(t, d, half(t, cases))
}

// What neighbouring cells compute alike is computed of planes outside, too: there each point has its own value outside.
func TestHiddenStagesReadPlanesOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	var cases []verify.Case
	for _, boundary := range []string{"EdgeValue y { return -value; }", "Boundary y (constant 2, constant 3)"} {
		text := "NumDimensions 2 StencilSize (1, 2) " + boundary + " float slope(int j) { float a = get(0, j) - get(0, j - 1), b = get(0, j + 1) - get(0, j); return a * b > 0 ? 2 * a * b / (a + b) : 0; } " +
			"float face(int j) { return get(0, j) + 0.4 * slope(j); } CellValue { return get(0, 0) - 0.3 * (face(0) - face(-1)); }"
		cases = append(cases, onWidths(t, text, stencil.Float32, "pipeline/vx=4/vy=1/wp=1/ck=1/pf=2/mb=1/ph=1/hs=1", 128, 131)...)
		cases = append(cases, onWidths(t, text, stencil.Float32, "pipeline/vx=4/vy=1/wp=1/ck=8/pf=2/mb=1/ph=2/sh=1/hs=1", 128, 131)...)
	}
	devicetest.Check(t, d, cases)
}

// What is the same at every cell of a time step is computed once a launch for each of its steps, also in stages and with what
// neighbours share.
func TestValuesOfAStepAreThoseOfTheirStep(t *testing.T) {
	checkDrawn(t, 38, 1, "global smalltile tile slide pipeline stream",
		"NumDimensions 2 StencilSize (1, 1) ScalarVariables (float w = 0.7) CellValue { float a = cos(w * iteration); return 0.5 * get(0, 0) * a + 0.2 * (get(1, 0) + get(0, -1)) + sin(w * iteration) * 0.25; }")
	checkDrawn(t, 38, 1, "pipeline tile",
		"NumDimensions 3 StencilSize (1, 1, 1) Fields (p, q) Boundary (clamp, constant 0.5, mirror) Stages (one, two) "+
			"CellValue one (p) { float t = iteration - 3; return 0.5 * get(p, 0, 0, 0) + 0.2 * (get(q, -1, 0, 0) + get(q, 0, 0, 1)) + 0.3 * exp(-0.1 * t * t); } "+
			"CellValue two (q) { return 0.7 * get(q, 0, 0, 0) + 0.1 * tanh(0.3 * iteration) * (get(p, 1, 0, 0) + get(p, 0, -1, 0)); }")
}

// Short alternatives are computed both, with locals of their own, before one is taken.
func TestAlternativesAreTakenAsWritten(t *testing.T) {
	checkDrawn(t, 39, 1, "global tile pipeline",
		"NumDimensions 2 StencilSize (1, 1) float step(float here, float d) { if (d > 0) return fmin(1, 2 * here / d); if (d < 0) return fmin(1, 3 * here / d); return 1; } "+
			"CellValue { float d = get(1, 0) - get(0, 0), v = 0.1; if (get(0, 1) > get(0, -1)) { float k = sqrt(fabs(d)); v = k * 0.3; d = d + k; } else { float k = d * d; v = k / (1 + k); } "+
			"return 0.5 * get(0, 0) + 0.2 * step(get(0, 0), d) * v; }",
		"NumDimensions 2 StencilSize (1, 1) DataType double Fields (p, q) Boundary (constant 0.5, mirror) CellValue { double a = get(p, -1, 0), b = get(q, 0, 1); "+
			"if (a > b) return a / (1 + b * b), b; a = a + 0.5; return b * 0.3, a / (2 + b * b); }")
	// Cells of the grid are not asked what all of them answer alike.
	checkDrawn(t, 40, 1, "global tile pipeline",
		"NumDimensions 2 StencilSize (1, 1) Boundary wrap float at(int i, int j) { if (x + i < 0 || x + i >= input_size.x || y + j < 0 || y + j >= input_size.y) return 0.25 * x; return get(i, j); } "+
			"CellValue { float s = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1); if (x >= 0 && x <= input_size.x - 2) s = s + 0.1 * at(0, 0); return 0.2 * s; }")
}

// Twice the cells of an axis may be more than an int holds: emitted sources take axes of up to 2130706432.
func TestMirrorsOfLongAxes(t *testing.T) {
	text, err := os.ReadFile("../../kernels/common.cu")
	if err != nil {
		t.Fatal(err)
	}
	functions, _, found := strings.Cut(string(text), "struct Position")
	if !found {
		t.Fatal("where do the functions of indices end?")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "mirrors.cpp"), filepath.Join(dir, "mirrors")
	main := `#include <stdio.h>
#include <algorithm>
using std::max;
using std::min;
#define __device__
#define __forceinline__ inline
` + functions + `int main() {
  for (int n : {1, 2, 5, (1 << 30) + 1, 2130706432})
    for (int i : {-1, 0, n - 1, n, n + 6}) printf("%d ", mirrored(i, n));
}`
	if err := os.WriteFile(source, []byte(main), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("c++", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := exec.Command(program).Output()
	const want = "0 0 0 0 0 1 0 1 0 0 1 0 4 3 3 1 0 1073741824 1073741823 1073741817 1 0 2130706431 2130706430 2130706424 "
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
