package stencil

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// taken finds choices of what was computed before.
var taken = regexp.MustCompile(`\? (v\d+|T\([\d.]+\)|get\([^()]*\)) : (v\d+|T\([\d.]+\)|get\([^()]*\))[;,)]`)

// TestAlternativesAreComputedAtOnce: where what a cell reads decides, with few operations.
func TestAlternativesAreComputedAtOnce(t *testing.T) {
	const long = "float s = get(0); for (int i = 0; i < 60; i++) s = s * s + a; "
	cases := []struct {
		body              string
		branches, choices int
	}{
		{"return get(1) > 0 ? get(0) / get(1) : get(0);", 0, 1},
		{"float d = get(1) - get(0); return d > 0 ? fmin(1, get(0) / d) : d < 0 ? fmin(1, get(1) / d) : 1;", 0, 2},
		{"float v = 0; if (get(1) > a) v = 1 / get(1); return v;", 0, 1},
		{"float v = 0, w = a; if (get(1) > a) { float k = sqrt(get(1)); v = k; w = k + 1; } else { float k = get(0); v = k * k; } return v + w;", 0, 2},
		{"float d = get(1); if (d > 0) return get(0) / d; d = d + 1; return get(-1) * (d * d + a);", 0, 1},
		{"float d = get(1); if (d > 0) return get(0) / d; d = d + 1; return get(-1) / (d * d + a);", 0, 1},
		{"float v = 0; if (get(0) > 0) v = get(1) > a ? get(0) / get(1) + exp(get(-1)) : 1; return v;", 0, 2},
		{"float d = get(1); if (d > 0) { if (d > 1) return 2 / d; d = d + 3; } return d / get(0);", 2, 0}, // one way ends early
		{"if (x == 3) return get(0) / get(1); return get(0);", 1, 0},                                      // few cells
		{"if (iteration > 3) return get(0) / get(1); return get(0);", 1, 0},                               // all or none
		{"if (get(0) > 0) { " + long + "return s; } return get(0);", 1, 0},                                // long
		{"return get(0) > 0 ? sin(get(1)) / get(0) : 0;", 0, 0},                                           // a sine branches
		{"float v = 1; if (get(0) > 0) v = exp(get(1)); return v;", 0, 1},                                 //
		{"float v = 1; if (get(0) > 0) v = read(r, (int)get(1)); return v;", 1, 0},                        // what it reads may lie anywhere
		{"float v = 1; if (get(0) > 0) v = (int)get(1) / (int)get(-1); return v;", 1, 0},                  // integers' quotients branch
		{"float v = get(-1), w = get(1), k = 0; if (get(0) > 0) { float t = v; v = w; w = t; k = get(0) / (2 + get(1)); } return v * a + w + k;", 0, 3},
		{"bool t = get(0) > 0; float v = get(1), w = a; if (t) { t = get(-1) > 0; v = get(-1) / (1 + v); w = 5; } return t ? v : v + w;", 0, 3},
	}
	for _, c := range cases {
		s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType float\nScalarVariables (float a = 0.5)\nReadOnly (r)\nCellValue { "+c.body+" }\n")
		code := StageCode(s, 0)
		if b, n := strings.Count(code, "if ("), len(taken.FindAllString(code, -1)); b != c.branches || n != c.choices {
			t.Errorf("%s: %d branches and %d choices, want %d and %d:\n%s", c.body, b, n, c.branches, c.choices, code)
		}
		sameAtOnce(t, s)
	}
	// So are those of integers.
	const fire = "NumDimensions 1\nStencilSize (1)\nDataType uint32\nCellValue { uint32 c = get(0), h = c * 1597334677; h += h / 8192; if (c == 2) return 0; if (c == 0) return h < 99; int n = 0; for (int i = -1; i <= 1; i++) n += get(i) == 2; return n > 0 || h < 7 ? 2 : 1; }"
	s := mustParse(t, fire)
	if code := StageCode(s, 0); strings.Contains(code, "if (") || !sameAtOnce(t, s) {
		t.Errorf("branches:\n%s", code)
	}
	// But not what they compute in double, and of 64 bits less.
	for body, n := range map[string]int{
		"int v = 1; if (get(0) > 5) v = (int)(100 / (1.5 + get(1))) + (int)(7 / (2.5 + get(-1))) + (int)(9 / (0.5 + get(1) * get(1))); return v;":                                           1,
		"int v = 1; if (get(0) > 5) v = (get(1) * 3 + get(-1) * 5) * (get(1) - get(-1)) + (get(1) * 7 - get(0)) * (get(0) + 2) + get(-1) * get(-1) + get(1) * 11 + get(-1) * 13; return v;": 0,
	} {
		if code := StageCode(mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType int\nCellValue { "+body+" }"), 0); strings.Count(code, "if (") != n {
			t.Errorf("want %d branches:\n%s", n, code)
		}
	}
	// Quotients take long in double.
	const two = "CellValue { float d = get(1); return d > 0 ? d > 1 ? get(0) / d + get(-1) / (d + 1) + d / (get(0) + 2) : 1 : 0; }"
	for dtype, n := range map[string]int{"float": 2, "double": 0} {
		if code := StageCode(mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType "+dtype+"\n"+two), 0); len(taken.FindAllString(code, -1)) != n {
			t.Errorf("%s: want %d choices:\n%s", dtype, n, code)
		}
	}
}

// TestAlternativesChangeNoAnswer of random programs, which choose by what they read.
func TestAlternativesChangeNoAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 1))
	made := map[string]int{}
	for range 900 {
		kind := []string{"float", "double", "int"}[r.IntN(3)]
		constants, root, one := [2]string{"0.5", "2.5"}, "sqrt(fabs(", "1.0"
		if kind == "int" {
			constants, root, one = [2]string{"5", "-3"}, "min(get(0), abs(", "1"
		}
		value := func() string {
			return []string{"get(0)", "get(1)", "get(-1)", "a", "b", constants[0], constants[1]}[r.IntN(7)]
		}
		var expr func(depth int) string
		expr = func(depth int) string {
			if depth == 0 {
				return value()
			}
			x, y := expr(depth-1), expr(depth-1)
			switch r.IntN(6) {
			case 0:
				return "(" + x + " > " + value() + " ? " + y + " : " + expr(depth-1) + ")"
			case 1:
				return root + x + "))"
			case 2, 3:
				if kind == "int" && r.IntN(2) == 0 {
					return "(" + x + " % 7 + " + y + " * " + y + ")"
				}
				return x + " / (" + one + " + " + y + " * " + y + ")"
			}
			return "(" + x + " - " + y + ")"
		}
		var block func(depth int) string
		block = func(depth int) (text string) {
			for range 1 + r.IntN(2) {
				switch {
				case depth > 0 && r.IntN(2) == 0:
					text += "if (" + []string{value() + " > " + expr(0), "a > " + expr(0), "t", "x - 3 > " + expr(0)}[r.IntN(4)] + ") { " + block(depth-1) + "} "
					if r.IntN(2) == 0 {
						text += "else { " + block(depth-1) + "} "
					}
				case depth < 2 && r.IntN(8) == 0:
					return text + "return " + expr(1) + "; "
				default:
					switch name := []string{"a", "b", "t"}[r.IntN(3)]; name {
					case "t":
						text += "t = " + expr(0) + " > " + expr(1) + "; "
					default:
						text += name + " = " + expr(r.IntN(3)) + "; "
					}
				}
			}
			return text
		}
		s, err := Parse("s", "s.sl", "NumDimensions 1 StencilSize (1) DataType "+kind+" CellValue { "+kind+" a = get(1), b = 1; bool t = get(-1) > 2; "+block(2)+"return a / (1 + b * b) + (t ? get(-1) : a); }")
		if err == nil && sameAtOnce(t, s) { // a statement that nothing reaches is no program
			made[kind]++
		}
	}
	if len(made) < 3 || made["float"] < 50 || made["double"] < 50 || made["int"] < 20 {
		t.Errorf("%v programs have alternatives", made)
	}
	t.Logf("%v programs have alternatives", made)
}

// sameAtOnce compares a program's answer with that of its straight functions, bit for bit, and tells whether these are others.
func sameAtOnce(t *testing.T, s *Stencil) (changed bool) {
	t.Helper()
	straight := *s
	straight.Stages = slices.Clone(s.Stages)
	for i := range straight.Stages {
		body := s.straight(s.inGrid(i))
		changed = changed || fmt.Sprint(body) != fmt.Sprint(s.Stages[i].Body)
		straight.Stages[i].Body = body
	}
	if !changed {
		return false
	}
	n := Size{17, 1, 1}
	for a := range s.Dims {
		n[a] = 17 - 4*a
	}
	answer := func(s *Stencil) string {
		p := Problem{Stencil: s, DType: s.DType, Size: n}
		return fmt.Sprint(Run(p, Start(p, 3), 3).Fields)
	}
	if answer(&straight) != answer(s) {
		t.Errorf("%s: another answer:\n%s", s.Name, StageCode(s, 0))
	}
	return true
}
