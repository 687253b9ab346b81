package stencil

import "testing"

func TestLinearLooksBehindWhatHoldsCells(t *testing.T) {
	file := func(body string) string { return "NumDimensions 2 StencilSize (1, 1) CellValue { " + body + " }" }
	const sum = "0.5 * (get(-1, 0) + get(0, 1))"
	for body, want := range map[string]Held{
		"if (x == 0 || x == input_size.x - 1 || y == 0 || y == input_size.y - 1) return get(0, 0); return " + sum + ";": {Low: [3]int{1, 1}, High: [3]int{1, 1}},
		"if (x < 2 || input_size.y - 1 <= y) return get(0, 0); return " + sum + ";":                                     {Low: [3]int{2}, High: [3]int{0, 1}},
		"if (1 > x) return get(0, 0); if (y >= input_size.y - 2) { return get(0, 0); } return " + sum + ";":             {Low: [3]int{1}, High: [3]int{0, 2}},
		"if (x > 0 && y != 0 && y + 1 < input_size.y) return " + sum + "; return get(0, 0);":                            {Low: [3]int{1, 1}, High: [3]int{0, 1}},
		"if (x > 0) { return " + sum + "; } else { return get(0, 0); }":                                                 {Low: [3]int{1}},
		"float here = get(0, 0); if (!(x >= 1)) return here; return " + sum + ";":                                       {Low: [3]int{1}},
		"return x == 0 || x == 1 ? get(0, 0) : " + sum + ";":                                                            {Low: [3]int{2}},
		"return x < input_size.x - 1 ? " + sum + " : get(0, 0);":                                                        {High: [3]int{1}},
		"return " + sum + ";": {},
	} {
		s := mustParse(t, file(body))
		weights, constant, ok := s.Linear()
		if !ok || constant != 0 || len(weights) != 2 || weights[Offset{-1, 0, 0}] != 0.5 || weights[Offset{0, 1, 0}] != 0.5 {
			t.Errorf("%s: %v %v %v", body, weights, constant, ok)
		}
		if got := s.Held(); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
	for _, body := range []string{
		"if (x == 1) return get(0, 0); return " + sum + ";",
		"if (x == 0 && y == 0) return get(0, 0); return " + sum + ";",
		"if (x == y) return get(0, 0); return " + sum + ";",
		"if (x < input_size.y) return get(0, 0); return " + sum + ";",
		"if (2 * x < 1) return get(0, 0); return " + sum + ";",
		"if (x > 5) return get(0, 0); return " + sum + ";",
		"if (x == 0 || iteration == 3) return get(0, 0); return " + sum + ";",
		"if (x == 0 || get(0, 0) > 3) return get(0, 0); return " + sum + ";",
		"if (x == 0) return get(0, 1); return " + sum + ";",
		"if (x < 100) return get(0, 0); return " + sum + ";",
	} {
		if s := mustParse(t, file(body)); true {
			if _, _, ok := s.Linear(); ok {
				t.Errorf("%s is a sum, %+v held", body, s.Held())
			}
		}
	}
}

// What an earlier return takes out, or a branch has changed, no later condition holds.
func TestHeldIsWhatAllCellsAreAsked(t *testing.T) {
	for _, body := range []string{
		"if (get(1) > 0.5) return 0; if (x == 0) return get(0); return get(1);",
		"float here = get(0); if (get(1) > 0) here = 0; if (x == 0) return here; return get(1);",
	} {
		if got := mustParse(t, line(body)).Held(); got != (Held{}) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestEdgeValueThatIsABoundaryRuleIsOne(t *testing.T) {
	const head = "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * (get(-1) + get(1)); } EdgeValue { return "
	for value, want := range map[string]Boundary{"value": Clamp, "-2": Constant, "0.5": Constant, "2 * value": Edge, "x < 0 ? 1.0 : 2.0": Edge} {
		s := mustParse(t, head+value+"; }")
		if s.Boundary != want || (s.Fields[0].Edge == nil) != (want != Edge) || want == Constant && s.Constant != map[string]float64{"-2": -2, "0.5": 0.5}[value] {
			t.Errorf("%s: %s %v", value, s.Boundary, s.Constant)
		}
	}
	two := "NumDimensions 1 StencilSize (1) Fields (a, b) CellValue { return get(a, 1), get(b, 0); } "
	if s := mustParse(t, two+"EdgeValue a { return 1; } EdgeValue b { return 2; }"); s.Boundary != Edge || s.Fields[0].Edge == nil {
		t.Errorf("two constants: %s", s.Boundary)
	}
	if s := mustParse(t, two+"EdgeValue { return 2; }"); s.Boundary != Constant || s.Constant != 2 {
		t.Errorf("one constant: %s", s.Boundary)
	}
	// The hash is that of what the file says.
	if a, b := mustParse(t, head+"value; }"), mustParse(t, "NumDimensions 1 StencilSize (1) CellValue { return 0.5 * (get(-1) + get(1)); }"); a.Hash == b.Hash {
		t.Error("EdgeValue does not count in the hash")
	}
}
