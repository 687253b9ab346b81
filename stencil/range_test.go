package stencil

import (
	"strings"
	"testing"
)

func TestStartValuesAreWhatEachArrayIsMeantFor(t *testing.T) {
	s := mustParse(t, "NumDimensions 1 StencilSize (0) Fields (u, v) ReadOnly (solid, sign, k) InputRange (2, 3) InputRange solid {0, 1} InputRange sign {1, -1} InputRange v (0.9, 1.1) "+
		"CellValue { return get(u, 0) + get(k, 0), get(solid, 0) > 0.5 ? get(v, 0) : get(sign, 0); }")
	for _, d := range []DType{Float32, Float16} {
		data := Start(Problem{Stencil: s, DType: d, Size: Size{1000, 1, 1}}, 7)
		for _, c := range []struct {
			name string
			of   Values
			low  float64
			high float64
			set  bool
		}{{"u", data.Fields[0], 2, 3, false}, {"v", data.Fields[1], 0.9, 1.1, false}, {"solid", data.ReadOnly[0], 0, 1, true}, {"sign", data.ReadOnly[1], -1, 1, true}, {"k", data.ReadOnly[2], 2, 3, false}} {
			low, high, ends := c.of.Float[0], c.of.Float[0], 0
			for _, v := range c.of.Float {
				low, high = min(low, v), max(high, v)
				if v == c.low || v == c.high {
					ends++
				}
			}
			if slack := 0.01 * (c.high - c.low); low < c.low-slack || low > c.low+slack || high < c.high-slack || high > c.high+slack {
				t.Errorf("%s of %s runs from %v to %v", c.name, d, low, high)
			}
			if c.set != (ends == 1000) {
				t.Errorf("%s of %s: %d of 1000 values are the least or the largest", c.name, d, ends)
			}
		}
	}
	i := mustParse(t, "NumDimensions 1 StencilSize (0) DataType int InputRange {-2, 2, 0} CellValue { return get(0); }")
	seen := map[int64]int{}
	for _, v := range Start(Problem{Stencil: i, DType: Int32, Size: Size{900, 1, 1}}, 1).Fields[0].Int {
		seen[v]++
	}
	if len(seen) != 3 || seen[-2] < 200 || seen[0] < 200 || seen[2] < 200 {
		t.Errorf("%v", seen)
	}
	for set, most := range map[string]int{"{0, 0, 0, 0, 1}": 0, "{0, 1, 1, 1, 1}": 1} {
		i := mustParse(t, "NumDimensions 1 StencilSize (0) DataType int InputRange "+set+" CellValue { return get(0); }")
		seen := [2]int{}
		for _, v := range Start(Problem{Stencil: i, DType: Int32, Size: Size{5000, 1, 1}}, 1).Fields[0].Int {
			seen[v]++
		}
		if seen[most] < 3900 || seen[most] > 4100 {
			t.Errorf("%s: %v", set, seen)
		}
	}
}

// A life that dies within two steps would prove nothing of those that are fused.
func TestLife3DLives(t *testing.T) {
	s, err := Lookup("life3d")
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Stencil: s, DType: Int32, Size: Size{40, 40, 40}}
	alive := 0
	for _, v := range Judge(p, 1, 20).Want {
		if v == 1 {
			alive++
		}
	}
	if alive < 4000 {
		t.Errorf("%d of 64000 live after 20 steps", alive)
	}
}

// A branch that needs an obstacle is taken where the mask has some, and named where it has none.
func TestAMaskShowsBothBranches(t *testing.T) {
	const src = "NumDimensions 2 StencilSize (1, 0) Fields (f) ReadOnly (solid) InputRange f (0.2, 0.4) InputRange solid RANGE CellValue { if (get(solid, 0, 0) > 0.5) return get(f, 1, 0); return 0.5 * (get(f, -1, 0) + get(f, 0, 0)); }"
	for values, untaken := range map[string]int{"{0, 1}": 0, "(0.2, 0.4)": 1} {
		s := mustParse(t, strings.Replace(src, "RANGE", values, 1))
		v := Judge(Problem{Stencil: s, DType: Float32, Size: Size{20, 20, 1}}, 1, 2)
		if got := s.Untaken(v.Seen); len(got) != untaken {
			t.Errorf("solid %s: %q", values, got)
		}
	}
}

func TestFaultsOfInputRangeAreShownWhereTheyStand(t *testing.T) {
	const head = "NumDimensions 1 StencilSize (0) Fields (u) ReadOnly (k) CellValue { return get(u, 0) + get(k, 0); }\n"
	for tail, want := range map[string]string{
		"InputRange {0, 1, 1, 2}":             `2:12: of two values each may be given several times, as it is to be more frequent, like {0, 0, 0, 1}; of one or of more only once`,
		"InputRange w (0, 1)":                 `2:12: want the name of a field, a read-only array or a list of sources here, found "w"`,
		"InputRange k {0, 1, 3}":              "2:14: want values that are as far apart as each other, like {0, 1} or {-1, 0, 1}",
		"InputRange k {1, 1}":                 "2:14: of two values each may be given several times, as it is to be more frequent, like {0, 0, 0, 1}; of one or of more only once",
		"InputRange (1, 1)":                   "2:1: InputRange wants the lowest and the highest value, (0, 1), or a set of values, {0, 1}",
		"InputRange (0, 1, 2)":                "2:1: InputRange wants the lowest and the highest value, (0, 1), or a set of values, {0, 1}",
		"InputRange (0, 1) InputRange (0, 2)": "2:19: InputRange is given twice; remove one, or say of which array each is: InputRange u (0, 1)",
		"InputRange k {0, x}":                 `2:18: want a number here, found "x"; keys take numbers themselves, no names and no formulas of them`,
	} {
		_, err := Parse("s", "s.sl", head+tail)
		if err == nil {
			t.Errorf("%s: accepted", tail)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != "s.sl:"+want {
			t.Errorf("%s:\n got %s\nwant s.sl:%s", tail, got, want)
		}
	}
}
