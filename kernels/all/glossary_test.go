package all

import (
	"os"
	"slices"
	"strings"
	"testing"

	"stenciltune/machine/machinetest"
	"stenciltune/stencil"
)

// docs/glossary.md is one table in alphabetical order, with the letters of every parameter.
func TestGlossaryHasEveryParameter(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| --- | --- | --- | --- |\n")
	var terms []string
	letters := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 {
			t.Errorf("%q is no row of four cells", line)
			continue
		}
		terms = append(terms, strings.TrimSpace(cells[1]))
		for l := range strings.FieldsSeq(cells[4]) {
			letters[strings.Trim(l, "`")] = true
		}
	}
	if !slices.IsSorted(terms) || len(slices.Compact(slices.Clone(terms))) != len(terms) {
		t.Errorf("not in order, or one twice: %q", terms)
	}
	srad := catalogued(t, "srad2", stencil.Float32, stencil.Size{1024, 1024, 1}) // of several stages
	for _, f := range Families() {
		for _, p := range f.Space(srad, machinetest.H200()).Params {
			if !letters[p.Name] {
				t.Errorf("%s of %s has no term", p.Name, f.Name())
			}
		}
	}
}

// docs/families.md says of every parameter what it is.
func TestThePageOfFamiliesHasEveryParameter(t *testing.T) {
	page, err := os.ReadFile("../../docs/families.md")
	if err != nil {
		t.Fatal(err)
	}
	srad := catalogued(t, "srad2", stencil.Float32, stencil.Size{1024, 1024, 1}) // of several stages
	for _, f := range Families() {
		for _, p := range f.Space(srad, machinetest.H200()).Params {
			if !strings.Contains(string(page), "`"+p.Name+"`") && !strings.Contains(string(page), "`"+p.Name+"=") {
				t.Errorf("%s of %s is not in docs/families.md", p.Name, f.Name())
			}
		}
	}
}
