package stencil

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsTheSameAtEveryCellIsComputedOnceAStep: with locals that lead to it, whole, and only what all cells ask for.
func TestWhatIsTheSameAtEveryCellIsComputedOnceAStep(t *testing.T) {
	cases := []struct{ body, values, left string }{
		{"return get(0) + sin(0.5 * iteration);", "sin(T(0.5) * T(iteration))", "grid.of_step[iteration - grid.iteration].value_"},
		{"double t = iteration - 3; return get(0) + get(1) * (2 * exp(-t) + a);", "T(2.0) * exponential(-T(wrap_sub(iteration, 3))) + s_0", ""},
		{"double t = cos(a * iteration); return get(0) + 2 * t;", "T(2.0) * cos(s_0 * T(iteration))", ""},        // t itself is asked for by nobody
		{"double t = iteration; t = t + get(0); return sin(t);", "", "sin("},                                     // not the same at every cell
		{"if (x == 3) return get(0) + sin(0.5 * iteration); return get(0);", "", "sin("},                         // one cell asks
		{"return get(0) + (get(1) > 0 ? sin(0.5 * iteration) : 0);", "", "sin("},                                 // some cells ask
		{"if (iteration < 9) return get(0) + cos(a * iteration); return get(0);", "cos(s_0 * T(iteration))", ""}, // all ask or none
		{"return get(0) + sqrt(a);", "", "square_root("},                                                         // compilers take it out of loops
		{"return get(0) * sin(x * 0.5 + iteration);", "", "sin("},
	}
	for _, c := range cases {
		s := mustParse(t, "NumDimensions 1\nStencilSize (1)\nDataType double\nScalarVariables (double a = 2)\nCellValue { "+c.body+" }\n")
		var codes []string
		for _, v := range StepValues(s) {
			codes = append(codes, v.Code)
		}
		if got := strings.Join(codes, "; "); got != c.values {
			t.Errorf("%s: values %q, want %q", c.body, got, c.values)
		}
		code := StageCode(s, 0)
		if !strings.Contains(code, c.left) || c.values != "" && (strings.Contains(code, "sin(") || strings.Contains(code, "exp(") || strings.Contains(code, " t")) {
			t.Errorf("%s: leaves\n%s", c.body, code)
		}
	}
}

// Locals that follow from each other are not written out for ever.
func TestLongChainsOfLocalsEnd(t *testing.T) {
	text := "float a0 = exp(0.01 * iteration);"
	for i := range 60 {
		text += fmt.Sprintf(" float a%d = 0.5 * a%d * a%d + exp(-a%[2]d);", i+1, i, i)
	}
	if code := StageCode(mustParse(t, line(text+" return a60 * get(0);")), 0); len(code) > 1<<16 || !strings.Contains(code, "of_step") {
		t.Errorf("%d characters: %.2000s", len(code), code)
	}
}
