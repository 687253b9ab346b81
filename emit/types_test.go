package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// TestEveryElementTypeIsKnownInAllForms emits a stencil of each type, with a read-only array and a scalar of it, in every form, and has
// each compiled or run by what reads it.
func TestEveryElementTypeIsKnownInAllForms(t *testing.T) {
	dir := t.TempDir()
	untyped := regexp.MustCompile(`(?m)^ *(,|::).*`) // a Fortran declaration without its type
	var source, cases bytes.Buffer
	for _, d := range stencil.ElementTypes() {
		name := "of_" + string(d)
		st := stenciltest.Parse(t, name, fmt.Sprintf(
			"NumDimensions 1 StencilSize (1) DataType %s ReadOnly (k: %[1]s) ScalarVariables (%[1]s a) CellValue { return get(1) + get(k, 0) + a; }", d))
		s := sourceOfStencil(t, st, d, stencil.Size{512, 1, 1}, "tile/gx=32/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1", h200)
		for _, f := range Formats() {
			text, err := Text(f.Name, s)
			if err != nil {
				t.Errorf("%s: %s: %v", d, f.Name, err)
				continue
			}
			switch f.Name {
			case "cu":
				source.Write(emptied(t, text))
			case "fortran":
				if line := untyped.Find(text); line != nil {
					t.Errorf("%s: fortran has no type for it: %s", d, line)
				}
				write(t, dir, name+".f90", string(text))
			case "python":
				write(t, dir, name+".py", string(text))
			case "header":
				write(t, dir, name+".h", string(text))
				c := element(d)
				write(t, dir, name+".c", fmt.Sprintf("#include <stdint.h>\n#include \"%s.h\"\nTUNE_%s_ASSERT_ELEMENT(%s);\n_Static_assert(sizeof(%s) == %d && ((%[4]s)-1 < 0) == ((%[3]s)-1 < 0), \"\");\n",
					name, strings.ToUpper(name), c, word(c), d.Size()))
				if standard := string(d) + "_t"; d.Size() == 8 && !d.Floating() {
					write(t, dir, name+"_standard.c", fmt.Sprintf("#include <stdint.h>\n#include \"%s.h\"\nTUNE_%s_ASSERT_ELEMENT(%s);\n", name, strings.ToUpper(name), standard))
					write(t, dir, name+"_standard.cpp", fmt.Sprintf("#include <stdint.h>\n#include \"%s.h\"\nTUNE_%s_ASSERT_ELEMENT(%s);\n", name, strings.ToUpper(name), standard))
				}
			}
		}
		line, err := json.Marshal(recordedCase{Module: name, N: []int{512, 1, 1}, Steps: 1, Lengths: []int64{512}, Lists: [][2]int{}, Scalars: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(append(line, '\n'))
	}
	if t.Failed() {
		return
	}
	write(t, dir, "all.cu", source.String())
	build(t, dir, nvccOf(t), "-std=c++17", "-O0", "-c", "-o", "all.o", "all.cu")
	for _, d := range stencil.ElementTypes() {
		name := "of_" + string(d)
		build(t, dir, tool(t, "cc"), "-std=c11", "-Wall", "-Werror", "-fsyntax-only", name+".c")
		if d.Size() == 8 && !d.Floating() {
			build(t, dir, tool(t, "cc"), "-std=c11", "-Wall", "-Werror", "-fsyntax-only", name+"_standard.c")
			build(t, dir, tool(t, "c++"), "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", name+"_standard.cpp")
		}
		if gfortran, err := exec.LookPath("gfortran"); err == nil {
			build(t, dir, gfortran, "-Wall", "-Werror", "-std=f2008", "-fsyntax-only", name+".f90")
		}
	}
	fake, err := filepath.Abs("testdata/fakecuda.py")
	if err != nil {
		t.Fatal(err)
	}
	python := exec.Command(tool(t, "python3"), "-B", fake, dir)
	python.Stdin = &cases
	if out, err := python.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAnArrayAlongAnAxisNeedsNoWholeGrid: whether something reads it or not, it is given with its length.
func TestAnArrayAlongAnAxisNeedsNoWholeGrid(t *testing.T) {
	of := func(read string) Source {
		st := stenciltest.Parse(t, "rows", "NumDimensions 2 StencilSize (1, 1) ReadOnly (k[y]) CellValue { return get(1, 0)"+read+"; }")
		return sourceOfStencil(t, st, stencil.Float32, stencil.Size{512, 512, 1}, tiles2d+"1", h200)
	}
	s := of("")
	if got, want := exportsOf(s).OnDevice(), exportsOf(of(" * get(k, 0)")).OnDevice(); got != want {
		t.Errorf("unread: %s\nread: %s", got, want)
	}
	for format, want := range map[string]string{"cu": "indexed[ARRAYS] = {true}", "python": `"indexed":true`} {
		if text, err := Text(format, s); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: not %s; %v", format, want, err)
		}
	}
}
