package stencil

import (
	"math"
	"os"
	"slices"
	"testing"
)

// paperHotspot is figure 3 of the language's paper as it stands there.
func paperHotspot(t testing.TB) *Stencil {
	t.Helper()
	text, err := os.ReadFile("testdata/Hotspot.sl")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("Hotspot", "Hotspot.sl", string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func nearly(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*math.Max(1, math.Abs(want[i])) {
			t.Fatalf("cell %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestHotspotOfThePaperRunsUnchanged(t *testing.T) {
	s := paperHotspot(t)
	if s.Function != "runHotspot" || len(s.Scalars) != 3 || len(s.ReadOnly) != 1 || s.ReadOnly[0].Indexed || s.Boundary != Clamp || s.DType != Float32 {
		t.Errorf("%+v", s)
	}
	n := Size{13, 7, 1}
	cells := int(n.Cells())
	temperature, power := Fill(1, n.Cells()), Fill(2, n.Cells())
	rx, ry, rz := 3.0, 4.0, 5.0
	got := Run(Problem{Stencil: s, DType: Float64, Size: n}, Data{
		Fields: []Values{{Float: temperature}}, ReadOnly: []Values{{Float: power}}, Scalars: []float64{rx, ry, rz},
	}, 3)
	for range 3 {
		next := make([]float64, cells)
		for y := range n[1] {
			for x := range n[0] {
				get := func(dx, dy int) float64 {
					i, j := x+dx, y+dy
					if i < 0 {
						i = 0
					}
					if i == n[0] {
						i--
					}
					if j < 0 {
						j = 0
					}
					if j == n[1] {
						j--
					}
					return temperature[j*n[0]+i]
				}
				v := get(0, 0)
				next[y*n[0]+x] = v + power[y*n[0]+x] + (get(0, 1)+get(0, -1)-v)/ry + (get(1, 0)+get(-1, 0)-v)/rx + (80-v)/rz
			}
		}
		temperature = next
	}
	nearly(t, got.Fields[0].Float, temperature)
}

func TestPlateIsHeatedFromItsUpperEdge(t *testing.T) {
	s := lookup(t, "plate")
	n := Size{9, 6, 1}
	in := Fill(4, n.Cells())
	got := Reference(Problem{Stencil: s, DType: Float64, Size: n}, in, 4)
	for range 4 {
		var next []float64
		for y := range n[1] {
			for x := range n[0] {
				get := func(i, j int) float64 {
					switch {
					case j < 0:
						return 100
					case i < 0 || i == n[0] || j == n[1]:
						return 0
					}
					return in[j*n[0]+i]
				}
				next = append(next, 0.25*(get(x-1, y)+get(x+1, y)+get(x, y-1)+get(x, y+1)))
			}
		}
		in = next
	}
	nearly(t, got, in)
}

func TestPathfinderReadsARowEachStep(t *testing.T) {
	s := lookup(t, "pathfinder")
	if !s.ReadOnly[0].Indexed || s.DType != Int32 {
		t.Errorf("%+v", s.ReadOnly)
	}
	const width, steps = 37, 11
	costs := make([]int64, width*(steps+1))
	for i := range costs {
		costs[i] = int64(mix(uint32(i)) % 10)
	}
	got := Run(Problem{Stencil: s, DType: Int32, Size: Size{width, 1, 1}}, Data{
		Fields: []Values{{Int: costs[:width]}}, ReadOnly: []Values{{Int: costs}},
	}, steps)
	best := slices.Clone(costs[:width])
	for row := 1; row <= steps; row++ {
		next := make([]int64, width)
		for x := range next {
			next[x] = costs[row*width+x] + min(best[max(x-1, 0)], best[x], best[min(x+1, width-1)])
		}
		best = next
	}
	if !slices.Equal(got.Fields[0].Int, best) {
		t.Errorf("got %v, want %v", got.Fields[0].Int, best)
	}
}

func TestLifeKillsAndBears(t *testing.T) {
	s := lookup(t, "life3d")
	n := Size{6, 5, 7}
	grid := make([]int64, n.Cells())
	for i := range grid {
		grid[i] = int64(mix(uint32(i)) & mix(uint32(i)+99) & 1)
	}
	got := Run(Problem{Stencil: s, DType: Int32, Size: n}, Data{Fields: []Values{{Int: grid}}}, 2)
	for range 2 {
		next := make([]int64, len(grid))
		for z := range n[2] {
			for y := range n[1] {
				for x := range n[0] {
					around := int64(0)
					for k := max(z-1, 0); k <= min(z+1, n[2]-1); k++ {
						for j := max(y-1, 0); j <= min(y+1, n[1]-1); j++ {
							for i := max(x-1, 0); i <= min(x+1, n[0]-1); i++ {
								around += grid[(k*n[1]+j)*n[0]+i]
							}
						}
					}
					me := (z*n[1]+y)*n[0] + x
					around -= grid[me]
					if around == 5 || grid[me] == 1 && around == 4 {
						next[me] = 1
					}
				}
			}
		}
		grid = next
	}
	if !slices.Equal(got.Fields[0].Int, grid) || !slices.Contains(grid, 1) {
		t.Error("another generation than the hand-written loop's")
	}
}

func TestBoundariesReadWhatTheyName(t *testing.T) {
	in := []float64{1, 2, 3, 4}
	for rule, want := range map[string][]float64{
		"clamp":         {1, 1, 1, 1}, // the value 3 to the left
		"mirror":        {4, 3, 2, 1},
		"wrap":          {2, 3, 4, 1},
		"constant -7.5": {-7.5, -7.5, -7.5, 1},
		"fixed":         {1, 2, 3, 1},
	} {
		s := mustParse(t, "NumDimensions 1 StencilSize (3) Boundary "+rule+" CellValue { return get(-3); }")
		if got := Reference(Problem{Stencil: s, DType: Float64, Size: Size{4, 1, 1}}, in, 1); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
		one := Reference(Problem{Stencil: s, DType: Float64, Size: Size{1, 1, 1}}, []float64{5}, 1)[0]
		if one != 5 && rule != "constant -7.5" {
			t.Errorf("%s on one cell: %v", rule, one)
		}
	}
}

func TestStagesSeeWhatTheStageBeforeLeft(t *testing.T) {
	s := mustParse(t, `NumDimensions 1 StencilSize (1) Fields (u, v) Stages (first, second)
		CellValue second (u) { return get(v, 1) + get(u, 0); }
		CellValue first (v) { return 2 * get(u, 0); }`)
	got := Reference(Problem{Stencil: s, DType: Float64, Size: Size{3, 1, 1}}, []float64{1, 2, 3, 0, 0, 0}, 1)
	if want := []float64{1 + 4, 2 + 6, 3 + 6, 2, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(s.Stages) != 2 || s.Stages[0].High[0] != 0 || s.Stages[1].High[0] != 1 || s.High[0] != 1 || s.Ops.Total() != 2 {
		t.Errorf("%+v", s)
	}
	if f := s.Fields; len(f[0].Points) != 1 || len(f[1].Points) != 1 || len(s.Points) != 2 {
		t.Errorf("points %v, of the fields %v", s.Points, f)
	}
}

func TestRunStopsWhenReduceSaysSo(t *testing.T) {
	s := mustParse(t, `NumDimensions 1 StencilSize (1) CellValue { return 0.5 * get(0); }
		Reduce max { return fabs(value - get(0)); } Until < 0.01 every 3`)
	p := Problem{Stencil: s, DType: Float64, Size: Size{2, 1, 1}}
	d := Data{Fields: []Values{{Float: []float64{1, -8}}}}
	got := Run(p, d, 100) // the change of step k is 8 / 2^k: below 0.01 from step 10 on, seen at 12
	if !got.Until || got.Steps != 12 || got.Reduced != 8./4096 || got.Fields[0].Float[1] != -8./4096 {
		t.Errorf("%+v", got)
	}
	if got := Run(p, d, 8); got.Until || got.Steps != 8 || got.Reduced != 8./256 {
		t.Errorf("%+v", got)
	}
	for op, want := range map[string]float64{"sum": -3.5, "min": -4, "max": 0.5} {
		s := mustParse(t, "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * get(0); } Reduce "+op+" { return value; }")
		if got := Run(Problem{Stencil: s, DType: Float64, Size: Size{2, 1, 1}}, d, 1); got.Reduced != want {
			t.Errorf("%s is %v, want %v", op, got.Reduced, want)
		}
	}
}

func TestTheOwnIndexIsFoundHoweverItIsWritten(t *testing.T) {
	for index, own := range map[string]bool{
		"y * input_size.x + x": true, "x + input_size.x * y": true, "(x) + (y + 0) * input_size.x": true,
		"y * input_size.x + x + x - x": true, "(y + 1) * input_size.x + x - input_size.x": true,
		"y * input_size.y + x": false, "x": false, "y * input_size.x + x + 1": false, "iteration * input_size.x + x": false,
		"y * input_size.x + x % 1000": false, "max(x, 0) + y * input_size.x": false,
	} {
		s := mustParse(t, "NumDimensions 2 StencilSize (0, 0) CellValue { return get(0, 0) + read("+index+"); }")
		if s.ReadOnly[0].Indexed == own {
			t.Errorf("%s: %+v", index, s.ReadOnly)
		}
	}
}

func TestSmallFloatsRoundToTheirFormat(t *testing.T) {
	for _, c := range []struct {
		d       DType
		v, want float64
	}{
		{Float16, 1.0004, 1}, {Float16, 1 + 3./2048, 1 + 2./1024}, {Float16, 65504, 65504}, {Float16, 65520, math.Inf(1)}, {Float16, -1e9, math.Inf(-1)},
		{Float16, 0x1p-24, 0x1p-24}, {Float16, 0x1p-26, 0}, {Float16, 0x1.8p-24, 0x1p-23},
		{BFloat16, 1.005, 1.0078125}, {BFloat16, 3.3e38, 3.3e38 - math.Mod(3.3e38, 0x1p120)}, {BFloat16, 3.4e38, math.Inf(1)},
		{Float32, 0.1, 0.10000000149011612}, {Int8, 300, 127}, {Int8, -1.9, -1}, {Uint8, -3, 0}, {Uint64, 1e30, math.MaxUint64}, {Int32, math.NaN(), 0},
	} {
		if got := c.d.Round(c.v); math.Abs(got-c.want) > math.Abs(c.want)*0x1p-9 && got != c.want {
			t.Errorf("%s: %v rounds to %v, want %v", c.d, c.v, got, c.want)
		}
	}
}

func TestPlainNamesWhatTheKernelsLack(t *testing.T) {
	for src, want := range map[string]string{
		line("return get(0);"): "",
		line("float a = get(1); if (a > 0) a = sqrt(a); return a > 1 ? a : tanh(a);"): "",
		line("return get(0) + x;"):                                "the position, the grid's size or the iteration",
		line("int k = get(0); return k / 2;"):                     "integers",
		line("return get(0); ") + "DataType float16":              "element type float16",
		line("return get(0); ") + "Boundary wrap":                 "Boundary wrap",
		line("return get(0); ") + "EdgeValue { return -value; }":  "EdgeValue",
		line("return get(0); ") + "Reduce sum { return value; }":  "Reduce",
		line("return get(0) + read(x); "):                         "read-only arrays",
		line("return a * get(0); ") + "ScalarVariables (float a)": "scalars",
		line("return get(a, 0), get(b, 0); ") + "Fields (a, b)":   "several fields",
		"NumDimensions 1 StencilSize (0) Stages (a, b) CellValue a { return get(0); } CellValue b { return get(0); }": "several stages",
	} {
		err := mustParse(t, src).Plain()
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != "does not support "+want+", which s uses") {
			t.Errorf("%s: %v", src, err)
		}
	}
	for _, name := range []string{"jacobi1d", "jacobi2d", "jacobi3d", "heat2d", "boxblur5", "box9", "sum3d-f64"} {
		if err := lookup(t, name).Plain(); err != nil {
			t.Errorf("%s is not plain: %v", name, err)
		}
	}
}
