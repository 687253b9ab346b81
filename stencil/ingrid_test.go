package stencil

import (
	"strings"
	"testing"
)

// TestCellsAreNotAskedWhatAllAnswerAlike: of a coordinate in the grid.
func TestCellsAreNotAskedWhatAllAnswerAlike(t *testing.T) {
	for cond, want := range map[string]string{
		"x < 0": "no", "x + 0 < 0": "no", "x - 1 < 0": "", "x + 1 < 1": "no", "x + 1 <= 0": "no", "x <= 0": "", "0 > x": "no", "-1 >= x": "no",
		"x >= 0": "yes", "x > -1": "yes", "x > 0": "", "x != -1": "yes", "x == -1": "no", "x == 0": "",
		"x < input_size.x": "yes", "x - 1 < input_size.x": "yes", "x + 1 < input_size.x": "", "x < input_size.x - 1": "", "x <= input_size.x": "yes",
		"x + 1 <= input_size.x": "yes", "x + 2 <= input_size.x": "", "x >= input_size.x": "no", "x + 1 > input_size.x": "no", "x > input_size.x - 2": "",
		"x == input_size.x": "no", "x != input_size.x": "yes", "input_size.x > x": "yes", "x < input_size.y": "", "y + 1 < x": "", "x < iteration": "",
		"x < 0 || get(1, 0) > 0": "get", "x >= 0 && get(1, 0) > 0": "get", "x >= 0 || get(1, 0) > 0": "yes", "get(1, 0) > 0 && x < 0": "no", "!(x < 0)": "yes",
		"2 * x < 0": "", "x + 2000000000 < 0": "", "x < -2000000000": "",
	} {
		const yes, no = "T(11.0)", "T(22.0)"
		for _, body := range []string{"return " + cond + " ? 11 : 22;", "if (" + cond + ") return 11; return 22;", "float v = 22; if (" + cond + ") v = 11; return v;"} {
			s := mustParse(t, "NumDimensions 2\nStencilSize (1, 1)\nCellValue { "+strings.Replace(body, "11", "11 + 0 * get(0, 0)", 1)+" }\n")
			code := StageCode(s, 0)
			asks := strings.Contains(code, "if (") || strings.Contains(code, "?")
			reads := strings.Contains(code, "get")
			switch want {
			case "yes":
				if asks || !strings.Contains(code, yes) {
					t.Errorf("%s is always so:\n%s", cond, code)
				}
			case "no":
				if asks || !strings.Contains(code, no) || strings.Contains(code, yes) {
					t.Errorf("%s is never so:\n%s", cond, code)
				}
			case "get":
				if !asks || !reads || strings.Contains(code, "px") {
					t.Errorf("%s is asked of what is read alone:\n%s", cond, code)
				}
			default:
				if !asks {
					t.Errorf("%s is to be asked:\n%s", cond, code)
				}
			}
			sameAtOnce(t, s)
		}
	}
}
