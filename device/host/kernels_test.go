package host_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
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

var (
	flagCases  = flag.Int("cases", 8, "random schedules to check")
	flagEach   = flag.Int("each", 1, "random schedules of each stencil of the catalogue")
	flagSums   = flag.Int("sums", 5, "random schedules of random sums under every rule at the edges")
	flagMixed  = flag.Int("mixed", 4, "random schedules of programs whose boundary rules differ")
	flagStored = flag.Int("stored", 2, "random schedules of programs whose arrays are stored in types of their own")
	flagCopied = flag.String("copied", "pipeline,sweep,stream", "families of these")
	flagFields = flag.Int("fields", 4, "random schedules of programs whose fields are")
	flagOf     = flag.String("of", "global,tile,smalltile,slide,pipeline,sweep,stream", "families of these")
	flagSteps  = flag.Int("steps", 4, "random schedules of programs with step scalars, sources and receivers")
	flagCouple = flag.Int("coupled", 2, "random schedules of programs whose fields multiply each other")
	flagShared = flag.Int("shared", 3, "random schedules of programs whose neighbouring cells compute values alike")
	flagASan   = flag.Int("asan-cases", 2, "of these, also under the sanitizers")
	flagRaces  = flag.Int("races", 4, "of these, looked at for races")
	flagSeed   = flag.Uint64("seed", 20261121, "seed of the random schedules; where it is not given most draw by another in each run")
)

// drawnSeed is -seed if it is given, else another in each run of the tests: what few cases of one run do not show, those of
// many do. A test that fails says which it was.
func drawnSeed(t *testing.T) uint64 {
	t.Helper()
	t.Logf("-seed %d", drawn())
	return drawn()
}

var drawn = sync.OnceValue(func() uint64 {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "seed" })
	if given {
		return *flagSeed
	}
	return rand.Uint64() >> 16
})

// half is another half of a list in each run of the tests, or all of it where -seed is given.
func half[E any](t *testing.T, list []E) (some []E) {
	t.Helper()
	first, step := 0, 1
	if drawnSeed(t) != *flagSeed {
		first, step = int(drawn()%2), 2
	}
	for i := first; i < len(list); i += step {
		some = append(some, list[i])
	}
	return some
}

func open(t *testing.T, o host.Options) *host.Device {
	t.Helper()
	d, err := host.Open(o)
	if err != nil && o.Compiler != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestRandomSchedulesGiveTheReferencesAnswer(t *testing.T) {
	n := *flagCases
	if testing.Short() {
		n /= 6
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.Cases(t, d.Machine(), n, drawnSeed(t)))
}

func TestCatalogueGivesTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, half(t, devicetest.CatalogueCases(t, d.Machine(), *flagEach, drawnSeed(t)+2)))
}

func TestSumsUnderEveryRuleGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.SumCases(t, d.Machine(), *flagSums, drawnSeed(t)+3))
}

func TestRulesThatDifferGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.MixedCases(t, d.Machine(), *flagMixed, drawnSeed(t)+6))
}

// Read-only arrays in types of their own: two families each, so that all that take them have two.
func TestStoredTypesGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	source, r := verify.NewSource(d.Machine(), all.Families()), rand.New(rand.NewPCG(*flagSeed, 8))
	var cases []verify.Case
	for i, text := range []string{
		"NumDimensions 2 StencilSize (1, 2) Fields (u) ReadOnly (k: float16, m: uint8) Boundary mirror InputRange m {0, 1, 2} CellValue { return 0.2 * get(u, 1, 0) * get(k, 0, -2) + (get(m, -1, 1) == 2 ? 0.25 : get(u, 0, 0)); }",
		"NumDimensions 3 StencilSize (1, 1, 1) DataType double Fields (u, v) ReadOnly (k: float, w[y]: bfloat16) Boundary constant 1 CellValue { return 0.2 * get(u, 1, 0, -1) * get(k, 0, 0, 0), 0.3 * get(w, 1) + 0.5 * get(v, 0, 1, 0); }",
		"NumDimensions 2 StencilSize (1, 1) DataType int Fields (u) ReadOnly (m: uint8, n: int16) Boundary wrap InputRange m (0, 255) InputRange n (-9, 9) CellValue { return get(u, 1, 0) * get(n, 0, 0) - get(m, 0, 1) + read(m, iteration * x); }",
		"NumDimensions 2 StencilSize (1, 1) DataType float16 Fields (u) ReadOnly (k: double, m: int8) Boundary fixed InputRange m {-1, 0, 1} CellValue { return 0.3 * get(k, 0, 0) * get(u, 1, 0) + 0.25 * get(m, 0, 1); }",
	} {
		st := stenciltest.Parse(t, "stored", text)
		p := stencil.Problem{Stencil: st, DType: st.DType}
		able, _ := source.Able(p)
		for k := range 2 {
			cases = append(cases, source.Draw(r, p, able[(2*i+k)%len(able)]))
		}
	}
	devicetest.Check(t, d, append(cases, devicetest.StoredCases(t, d.Machine(), *flagStored, *flagSeed+10, strings.Split(*flagCopied, ",")...)...))
}

func TestNegativesOfTheLeastNumbersGiveTheReferencesAnswer(t *testing.T) {
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.NegativeCases(t, d.Machine(), *flagSeed+14))
}

// Fields in types of their own.
func TestStoredFieldsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.FieldCases(t, d.Machine(), *flagFields, drawnSeed(t)+11, strings.Split(*flagOf, ",")...))
}

// Fields that multiply each other, in several types.
func TestCoupledFieldsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.CoupledCases(t, d.Machine(), *flagCouple, drawnSeed(t)+12))
}

// Values that neighbouring cells compute alike, in stages of their own.
func TestSharedValuesGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.SharedCases(t, d.Machine(), *flagShared, drawnSeed(t)+13))
}

func TestStepScalarsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.StepCases(t, d.Machine(), *flagSteps, drawnSeed(t)+9))
}

func TestApplicationsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles large kernels")
	}
	d := open(t, host.Options{})
	devicetest.Check(t, d, devicetest.ApplicationCases(t, d.Machine(), 1, *flagSeed+5))
}

func TestRandomSchedulesAreCleanUnderSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("the sanitized build is slow")
	}
	d := open(t, host.Options{Sanitize: true})
	devicetest.Check(t, d, append(devicetest.Cases(t, d.Machine(), *flagASan, *flagSeed+1), devicetest.SumCases(t, d.Machine(), (*flagASan+1)/4, *flagSeed+4)...))
}

// Stages of one time step are launched alike, but one that reaches less far has
// fewer tiles: blocks beyond them must find that out.
func TestStagesOfDifferentReachShareALaunch(t *testing.T) {
	d := open(t, host.Options{})
	devicetest.Check(t, d, []verify.Case{devicetest.NamedCase(t, "srad2/f32/253x115/smalltile/gx=128/gy=8/gz=1/wx=1/wy=1/wz=1/cw=256/zz=1/ph=1", 2, 1)})
}

// Edges that no textbook stencil has: a read-only array beyond one where fields have a constant, and points further
// outside than a vector is wide, where they are mirrored. The last's first plane is held, and EdgeValue says what lies beyond.
func TestRareEdgesGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	source, r := verify.NewSource(d.Machine(), all.Families()), rand.New(rand.NewPCG(*flagSeed, 6))
	var cases []verify.Case
	for _, text := range []string{
		"NumDimensions 2 StencilSize (3, 2) ReadOnly (k) Fields (u) Boundary constant 2 CellValue { return 0.3 * (get(u, 1, 0) + get(k, 1, -2) + get(k, -3, 1)); }",
		"NumDimensions 3 StencilSize (2, 2, 2) ReadOnly (k) Fields (u) Boundary constant 2 CellValue { return 0.3 * (get(u, 0, 0, 0) + get(k, 2, -1, 0) + get(k, -1, 2, -2)); }",
		"NumDimensions 2 StencilSize (4, 1) Fields (u, v) Boundary mirror CellValue { return 0.5 * sin(get(u, 3, 0)) + 0.2 * get(v, 0, 1), 0.3 * get(v, -4, 0) + sin(get(u, 0, 0)); }",
		heldPlane,
	} {
		p := stencil.Problem{Stencil: stenciltest.Parse(t, "rare", text), DType: stencil.Float32}
		for _, name := range []string{"stream", "pipeline", "sweep"} {
			if f := kernels.Find(all.Families(), name); len(source.Legal(p, f)) > 0 {
				cases = append(cases, source.Draw(r, p, f))
			}
		}
	}
	devicetest.Check(t, d, half(t, cases))
}

// A step a launch in 1D and 2D takes the neighbours of a tile's last cells from memory: a tile that ends a cell or two before the grid
// writes cells that are held.
func TestCellsHeldWhereATileEndsBeforeTheGrid(t *testing.T) {
	devicetest.Check(t, open(t, host.Options{}), onGrids(t, "NumDimensions 1 StencilSize (3) Boundary fixed CellValue { return 0.5 * get(-3) + 0.3 * get(3) + 0.1 * get(0); }",
		stencil.Float32, "stream/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=1", stencil.Size{257, 1, 1}, stencil.Size{258, 1, 1}))
}

// Where an axis mirrors at one end, more cells keep their value at the other than are read beyond one. A tile may end between the two.
func TestCellsHeldAcrossFromAMirror(t *testing.T) {
	d := open(t, host.Options{})
	const across = "NumDimensions 3 StencilSize (3, 3, 1) Boundary (%s) CellValue { return 0.25 * (get(0, 0, 0) + get(-3, 0, 0)) + 0.2 * sin(get(0, 0, 0)) + 0.1 * get(0, -3, 0) + 0.1 * get(0, 0, -1); }"
	devicetest.Check(t, d, slices.Concat(
		onGrids(t, fmt.Sprintf(across, "(mirror, fixed), clamp, clamp"), stencil.Float32, "pipeline/vx=4/vy=3/wp=4/ck=1/pf=4/mb=1/ph=1", stencil.Size{257, 37, 11}),
		onGrids(t, fmt.Sprintf(across, "clamp, (mirror, fixed), clamp"), stencil.Float32, "pipeline/vx=2/vy=2/wp=12/ck=8/pf=4/mb=2/ph=1/sh=1", stencil.Size{129, 73, 7}),
		onGrids(t, "NumDimensions 3 StencilSize (1, 7, 1) Boundary (clamp, (fixed, mirror), clamp) CellValue { return 0.25 * (get(0, 0, 0) + get(0, 7, 0)) + 0.2 * sin(get(0, 0, 0)) + 0.1 * get(0, 0, -1); }",
			stencil.Float32, "pipeline/vx=2/vy=3/wp=4/ck=1/pf=2/mb=1/ph=2", stencil.Size{256, 53, 11})))
}

// A row is not streamed through: what lies beyond its ends is asked for between the loop's ends, too, where one turn is a plane step.
func TestARowsEndsHaveTheirOwnRules(t *testing.T) {
	devicetest.Check(t, open(t, host.Options{}), onGrids(t, "NumDimensions 1 StencilSize (2) Fields (u, v) Boundary x (constant 1, clamp) CellValue (u) { float s = 0; for (int i = -1; i <= 1; i++) s += sin(get(u, i - 1) * get(v, i)); return 0.3 * get(u, 0) + 0.2 * s; }",
		stencil.Float32, "pipeline/vx=4/vy=1/wp=4/ck=1/pf=1/mb=1/ph=6/sh=1", stencil.Size{440, 1, 1}))
}

const heldPlane = "NumDimensions 3 StencilSize (1, 1, 1) EdgeValue { return 1 + z; } CellValue { if (z < 1) return get(0, 0, 0); return 0.5 * get(1, 0, -1) + 0.3 * get(0, 1, 1); }"

// Of a grid of one plane, which is held, the plane beyond the last is a neighbour.
func TestAHeldPlaneIsTheOnlyOne(t *testing.T) {
	devicetest.Check(t, open(t, host.Options{}), onGrids(t, heldPlane, stencil.Float32, "stream/vx=2/vy=3/wp=4/ck=1/pf=1/mb=1/ph=1", stencil.Size{64, 18, 1}))
}

// Where rows are not whole vectors, lanes copy and write each other's parts of them.
func TestPartsOfRowsArriveWhereTheyBelong(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	var cases []verify.Case
	for _, name := range []string{
		"jacobi2d/f32/515x67/stream/vx=8/vy=1/wp=1/ck=4/pf=4/mb=1/ph=3/sm=2/pm=1", // written by way of shared memory
		"jacobi2d/f32/514x67/stream/vx=8/vy=1/wp=4/ck=2/pf=2/mb=1/ph=3/pm=1",
		"jacobi2d9/f64/259x67/stream/vx=4/vy=1/wp=1/ck=2/pf=2/mb=1/ph=2/pm=1",
		"hotspot2d/f32/513x67/stream/vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1",
		"acoustic3d/f32/65x37x31/stream/vx=2/vy=2/wp=8/ck=1/pf=2/mb=1/ph=1/pm=1",
		"gaussian2d/f32/516x67/stream/vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1", // parts of 16 bytes
		"gaussian2d/f16/514x67/stream/vx=8/vy=1/wp=1/ck=2/pf=4/mb=1/ph=2/pm=1",
		"jacobi2d/f32/1025x67/stream/vx=4/vy=1/wp=4/ck=2/pf=4/mb=1/ph=3/pm=1",
		"jacobi3d27/f32/67x45x67/stream/vx=2/vy=3/wp=8/ck=3/pf=4/mb=1/ph=2/pm=1",
	} {
		cases = append(cases, devicetest.NamedCase(t, name, 2, 1))
	}
	devicetest.Check(t, d, cases)
}

// packedSums are cases of two cells an instruction: rules, parts of rows, both kinds of prefetch, one step in flight and several.
func packedSums(t *testing.T) (cases []verify.Case) {
	for _, name := range []string{
		"jacobi2d/f16x2/515x67/stream/vx=8/vy=1/wp=4/ck=4/pf=1/mb=1/ph=3",
		"jacobi2d/f16x2/1026x67/stream/vx=16/vy=1/wp=1/ck=4/pf=4/mb=1/ph=3/sm=2/pm=1", // written by way of shared memory
		"jacobi2d9s/f16x2/512x67/stream/vx=4/vy=1/wp=4/ck=4/pf=2/mb=1/ph=1/pm=1",
		"jacobi3d27/f16x2/136x37x31/stream/vx=4/vy=3/wp=8/ck=1/pf=4/mb=1/ph=2/pm=1",
		"jacobi1d/f16x2/3001/stream/vx=8/vy=1/wp=4/ck=1/pf=1/mb=1/ph=4",
	} {
		cases = append(cases, devicetest.NamedCase(t, name, 2, 1))
	}
	for _, c := range []struct {
		text, schedule string
		size           stencil.Size
	}{
		{"NumDimensions 2 StencilSize (1, 1) Boundary wrap", "stream/vx=8/vy=1/wp=4/ck=4/pf=4/mb=1/ph=2/pm=1", stencil.Size{512, 67, 1}},
		{"NumDimensions 2 StencilSize (1, 1) Boundary constant 0.5", "stream/vx=8/vy=1/wp=4/ck=4/pf=1/mb=1/ph=2", stencil.Size{513, 67, 1}},
		{"NumDimensions 2 StencilSize (1, 1) Boundary mirror", "stream/vx=4/vy=1/wp=4/ck=4/pf=2/mb=1/ph=2/pm=1", stencil.Size{514, 67, 1}},
	} {
		st := stenciltest.Parse(t, "rule", c.text+" DataType float16 compute float16 CellValue { return 0.3 * get(0, 0) + 0.2 * get(-1, 0) + 0.1 * get(1, 1) + 0.15 * get(0, -1); }")
		s := spacetest.Schedule(t, c.schedule)
		cases = append(cases, verify.Of(stencil.Problem{Stencil: st, DType: st.DType, Size: c.size, Steps: 1}, kernels.Find(all.Families(), "stream"), s, 2, 1))
	}
	return cases
}

func TestPackedSumsGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	devicetest.Check(t, open(t, host.Options{}), half(t, packedSums(t)))
}

// The bound of arithmetic in float16 is wide, but not so wide that a wrong word passes.
func TestWrongPackedSumsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	for _, m := range [][2]string{
		{"unsigned word = across(own, ", "unsigned word = upper(own, "},        // the own cell twice beyond the vector's end
		{"if (at.low_x) word", "if (false) word"},                              // no rule at low x
		{"to[i] = Packed(i % 2 == 0 ? lower", "to[i] = Packed(i == 0 ? lower"}, // cells in each other's place
	} {
		c := packedSums(t)[1]
		if !strings.Contains(c.Kernel.Source, m[0]) {
			t.Fatal("the text has changed: ", m[0])
		}
		c.Kernel.Source = strings.Replace(c.Kernel.Source, m[0], m[1], 1)
		c.Remainder = nil
		err := verify.Run(t.Context(), d, []verify.Case{c}, func(_ verify.Case, r verify.Result) bool {
			if r.Failure != nil || r.OK() {
				t.Errorf("%s: %v, ok is %t", m[1], r.Failure, r.OK())
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Planes of a sweep are kept, or loaded again; its last tiles are moved back, and its rows copied in parts.
func TestSweepsThroughKeptPlanesGiveTheReferencesAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many kernels")
	}
	d := open(t, host.Options{})
	var cases []verify.Case
	for _, name := range []string{
		"acoustic3d/f32/132x37x31/sweep/vx=4/vy=2/wp=8/ck=2/pf=2/mb=1/kp=1",
		"acoustic3d/f32/131x35x9/sweep/vx=4/vy=2/wp=16/ck=1/pf=3/mb=1",
		"acoustic3d/f64/65x37x31/sweep/vx=2/vy=3/wp=8/ck=1/pf=1/mb=1/kp=1",
		"acoustic3d/f16/260x19x23/sweep/vx=8/vy=1/wp=8/ck=1/pf=2/mb=1",
		"jacobi3d27/f32/70x45x33/sweep/vx=2/vy=4/wp=10/ck=6/pf=2/mb=1",
		"hotspot3d/f32/129x33x19/sweep/vx=2/vy=4/wp=8/ck=3/pf=2/mb=1/kp=1",
	} {
		cases = append(cases, devicetest.NamedCase(t, name, 2, 1))
	}
	devicetest.Check(t, d, cases)
}
