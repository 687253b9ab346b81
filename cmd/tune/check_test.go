package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// command runs one that opens no device.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(args, &o, &e)
	return code, o.String(), e.String()
}

func TestCheckSaysWhatAFileMeans(t *testing.T) {
	path := file(t, "flow.sl", `NumDimensions 3
StencilSize (1, 1, 1)
Fields (u: float16, flux, idle)
ReadOnly (k, dz[z], rho: float16)
Short (flux x y, dz z)
Stages (face, cell)
CellValue face (flux) { return (get(u, 1, 0, 0) - get(u, 0, 0, 0)) * get(k, 0, 0, 0) / get(dz, 1); }
CellValue cell (u) { return get(u, 0, 0, 0) + 0.1 * (get(flux, 0, 0, 0) - get(flux, -1, 0, 0)) + 0 * get(idle, 0, 0, 0); }
`)
	code, out, _ := command(t, "check", path)
	for _, want := range []string{
		"flow: float32, boundary clamp, grid 512x512x512, 1000 steps",
		"reads     u at 2 points: (0, 0, 0) (1, 0, 0), stored in float16",
		"reads     dz by index",
		"unread    rho: nothing reads it, so remove it",
		"short     flux x y, dz z: there they end one cell before the grid",
		"stage face sets flux; reach x 0..1, y 0..0, z 0..0; ",
		"constant  idle: no stage sets it, so declare it with ReadOnly",
		"kernels on NVIDIA H200:",
		"not       stream (stencil): a block streams through one stage",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if code != 0 {
		t.Errorf("code %d", code)
	}
	code, out, _ = command(t, "check", "jacobi3d", "--json", "--device", "model:a100")
	var r checked
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("code %d: %v", code, err)
	}
	if !r.Linear || r.Bytes != 8 || len(r.Families)+len(r.Unable) != 7 || r.Stages[0].Points != 7 || r.Families[0].Steps[0] != 1 {
		t.Errorf("%+v", r)
	}
}

func TestCheckSaysWhyNoStepsAreFused(t *testing.T) {
	const move = "NumDimensions 2 StencilSize (1, 1) Fields (u, v) %s CellValue move (u) { return 0.8 * get(u, 0, 0) + 0.2 * get(u, 1, 0); } CellValue after (v) { return get(v, 0, 0) + get(u, 0, 0); } Sources s (u) { return get(u, 0, 0) + value; }"
	for stages, want := range map[string]string{
		"Stages (move, after)": "schedules), no more: a later stage of the step reads what sources s change after it",
		"Stages (after, move)": "  pipeline  time tiles 1 2 3 4",
	} {
		code, out, stderr := command(t, "check", file(t, "shot.sl", fmt.Sprintf(move, stages)))
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %s, %q is not in\n%s", stages, code, stderr, want, out)
		}
	}
}

func TestCheckNamesTheArrayThatIsNotMirrored(t *testing.T) {
	for head, want := range map[string]string{
		"Fields (u) ReadOnly (k) Boundary u mirror Boundary k clamp": "all are mirrored there, or none (on y u and k differ)",
		"ReadOnly (k) Boundary mirror Boundary k x clamp":            "stream    time tiles 1 2 3",
	} {
		u := "u, "
		if !strings.Contains(head, "Fields") {
			u = ""
		}
		code, out, stderr := command(t, "check", file(t, "walls.sl", "NumDimensions 2 StencilSize (1, 1) "+head+" CellValue { return 0.5 * get("+u+"1, 0) + 0.1 * get(k, 0, 1) * get("+u+"0, 0); }"))
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %s, %q is not in\n%s", head, code, stderr, want, out)
		}
	}
}

func TestCheckNamesTheNumbersOfTheGrid(t *testing.T) {
	const cells = "CellValue { return rate * get(0) + 0.1 * get(1); }"
	for text, want := range map[string]string{
		cells + " ScalarVariables (float rate = 0.5)":                                                   "",
		"StepScalar max high { return get(0); } StepScalar rate { return 0.5 / high; } " + cells:        "  numbers   each step begins with high (max over all cells), rate; the step before folds them while it stores; steps are not fused\n",
		"StepScalar sum rate { return get(1) - get(0); } " + cells:                                      "  numbers   each step begins with rate (sum over all cells); they take 1 look at the grid; steps are not fused\n",
		"StepScalar rate { return 0.5 / (1 + iteration); } " + cells:                                    "  numbers   each step begins with rate; steps are not fused\n",
		"ScalarVariables (float rate = 0.5) Reduce max { return value; } Until < 0.5 every 10 " + cells: "  reduce    max over all cells; a run ends when it is < 0.5, asked every 10 steps\n",
		"ScalarVariables (float rate = 0.5) Reduce sum { return value; } " + cells:                      "  reduce    sum over all cells, when a run asks for it\n",
		"ScalarVariables (float rate = 0.5) Receivers gauge { return get(0); } " + cells:                "  receivers gauge: record a number of each place after each step\n",
	} {
		_, out, stderr := command(t, "check", file(t, "numbers.sl", "NumDimensions 1 StencilSize (1) "+text))
		if got := strings.Contains(out, "numbers ") || strings.Contains(out, "reduce ") || strings.Contains(out, "receivers "); got != (want != "") || !strings.Contains(out, want) {
			t.Errorf("%s: %q is not in\n%s%s", text, want, out, stderr)
		}
	}
}

// An inflow that nothing asks for is said: most often it was given to the wrong field.
func TestCheckNamesAnEdgeValueThatIsNeverAsked(t *testing.T) {
	for edges, want := range map[string]string{
		"EdgeValue q x low { return 1; }":                                      "",
		"EdgeValue q { return 1; } EdgeValue a { return value; }":              "",
		"EdgeValue { return 1; }":                                              "",
		"EdgeValue a x low { return 1; } Receivers r { return get(a, -1); }":   "",
		"EdgeValue q x { return 1; } Receivers r { return get(a, -1); }":       "",
		"EdgeValue q x low { return 1; } EdgeValue q x high { return 2; }":     "  note      nothing reads q beyond the high end of x, so its EdgeValue is never asked there\n",
		"EdgeValue q { return 1; } EdgeValue q x high { return 2; }":           "  note      nothing reads q beyond the high end of x, so its EdgeValue is never asked there\n",
		"EdgeValue q { return 1; } EdgeValue q x low { return 2; }":            "",
		"EdgeValue x low { return 1; } EdgeValue x high { return 2; }":         "",
		"EdgeValue b x low { return 1; } EdgeValue b x high { return 2; }":     "  note      nothing reads b beyond the grid, so its EdgeValue is never asked\n",
		"EdgeValue b { return 1; } EdgeValue q { return 2; }":                  "  note      nothing reads b beyond the grid, so its EdgeValue is never asked\n",
		"EdgeValue a x low { return 1; } EdgeValue q x high { return value; }": "  note      nothing reads a beyond the low end of x, so its EdgeValue is never asked there\n  note      nothing reads q beyond the high end of x, so its EdgeValue is never asked there\n",
	} {
		path := file(t, "artery.sl", "NumDimensions 1 StencilSize (1) Fields (a, q, b) "+edges+" CellValue { return get(a, 0) + 0.1 * get(a, 1) - get(q, -1), get(q, 0) + 0.1 * get(a, 0), get(b, 0) + 1; }")
		if _, out, _ := command(t, "check", path); (want == "") == strings.Contains(out, "note") || !strings.Contains(out, want) {
			t.Errorf("%s: %q is not in\n%s", edges, want, out)
		}
	}
}

// Of two fields of a stage one is held by what the other reads.
func TestCheckSaysWhatAnotherFieldHolds(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Fields (u, v) Short (v x) Boundary u x fixed CellValue { return get(u, 1, 0) - get(u, -1, 0), get(v, 1, 0); }",
			"  note      u keeps 2 cells at the high end of x, because its stage reads so far for another field; alone it would keep 1: for that leave out its fixed rule there, and return x >= input_size.x - 1 ? get(u, 0, 0) : ...\n"},
		{"Fields (u, v) Boundary u y (fixed, clamp) CellValue { return get(u, 1, 0) + get(v, 0, -1), get(v, 0, 0) + get(u, 0, -2); }",
			"  note      u keeps 2 cells at the low end of y, because its stage reads so far for another field; alone it would keep 1: for that leave out its fixed rule there, and return y < 1 ? get(u, 0, 0) : ...\n"},
		{"Fields (u, v) Boundary u y (clamp, fixed) CellValue { return get(v, 1, 0), get(u, 0, 1); }",
			"  note      u keeps 1 cell at the high end of y, because its stage reads so far for another field; alone it would keep 0: for that leave out its fixed rule there\n"},
		{"Fields (u, v) Boundary fixed CellValue { return get(v, 1, 0), get(u, 0, 1); }", ""},
		{"Fields (u, old) Boundary u fixed CellValue { return get(u, 1, 0) - get(old, 0, 0), get(u, 0, 0); }", ""},
	} {
		_, out, _ := command(t, "check", file(t, "wide.sl", "NumDimensions 2 StencilSize (2, 2) "+c.text))
		if c.want == "" == strings.Contains(out, "note") || !strings.Contains(out, c.want) {
			t.Errorf("%q is not in\n%s", c.want, out)
		}
	}
}

// Kernels read other cells in the place of those that short arrays lack; a file does not.
func TestCheckNamesThePointsOfTheFile(t *testing.T) {
	_, out, _ := command(t, "check", "../../examples/stencils/dye.sl")
	if want := "  reads     u at 6 points: (0, -1) (1, -1) (-1, 0) (0, 0) (1, 0) (0, 1)\n"; !strings.Contains(out, want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
}

// TestCheckCountsNoTestOfAColor: six additions in each half sweep of relaxation.
func TestCheckCountsNoTestOfAColor(t *testing.T) {
	_, out, _ := command(t, "check", "../../examples/stencils/relaxation.sl")
	for _, want := range []string{
		"stage red sets u; reach x -1..1, y -1..1; 6 additions, 0 products, 0 quotients, 0 functions; ",
		"flops     12 a cell and step, 0.5 a byte; what kernels fuse, a product and its addition, is one; of an if both branches count; a stage with a Color counts at every cell, without the test\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestThePageShowsWhatCheckPrints: but for the number of schedules, which changes with every family.
func TestThePageShowsWhatCheckPrints(t *testing.T) {
	page, err := os.ReadFile("../../docs/command.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "    $ tune check hotspot2d\n")
	block, _, _ = strings.Cut(block, "\n\n")
	_, out, _ := command(t, "check", "hotspot2d")
	number := regexp.MustCompile(`\(\d+ schedules\)`)
	out = number.ReplaceAllString(out, "")
	for line := range strings.Lines(block + "\n") {
		if line = number.ReplaceAllString(strings.TrimPrefix(line, "    "), ""); line != "  ...\n" && !strings.Contains(out, line) {
			t.Errorf("%q is not in\n%s", line, out)
		}
	}
}

func TestFormatRewritesFilesOnce(t *testing.T) {
	path := file(t, "decay.sl", strings.ReplaceAll(decay, "  ", "\t"))
	if code, out, errs := command(t, "fmt", "--check", path); code != 2 || out != path+"\n" || !strings.Contains(errs, "run tune fmt "+path) {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
	if code, out, _ := command(t, "fmt", path); code != 0 || out != path+"\n" {
		t.Errorf("code %d, %q", code, out)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != decay {
		t.Errorf("%v\n%s", err, text)
	}
	if code, out, _ := command(t, "fmt", path); code != 0 || out != "" {
		t.Errorf("formatted again: code %d, %q", code, out)
	}
	bad := file(t, "bad.sl", "NumDimensions 4\n")
	if code, _, errs := command(t, "fmt", bad); code != 2 || !strings.Contains(errs, "bad.sl:1:1: NumDimensions must be 1, 2 or 3") {
		t.Errorf("code %d, %q", code, errs)
	}
}
