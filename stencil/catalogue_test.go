package stencil

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

func TestEveryCatalogueEntryParsesAndCitesItsSource(t *testing.T) {
	names := Names()
	if len(names) == 0 {
		t.Fatal("the catalogue is empty")
	}
	hashes := map[string]string{}
	for _, name := range names {
		s, err := Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)?$`).MatchString(name) {
			t.Errorf("%s: is called %q", name, s.Name)
		}
		if !regexp.MustCompile(`(?m)^\s*(#|//|\*|/\*)\s*Source: \S`).MatchString(s.Text()) {
			t.Errorf("%s: no comment line that begins with \"Source:\"", name)
		}
		if other, twice := hashes[s.Hash]; twice {
			t.Errorf("%s computes the same as %s", name, other)
		}
		hashes[s.Hash] = name
		for _, host := range []bool{false, true} {
			if n := s.DefaultSize(host); n.Cells() < 1<<20 {
				t.Errorf("%s: default size %v is too small to tune for", name, n)
			} else if _, err := ParseSize(n.Text(s.Dims), s.Dims); err != nil {
				t.Errorf("%s: default size: %v", name, err)
			}
		}
	}
}

func TestLookupOfAnUnknownNameListsTheCatalogue(t *testing.T) {
	for _, name := range []string{"", "nosuch", "../stencil", "jacobi2d.sl", `a\b`, "JACOBI2D", "catalogue/jacobi2d"} {
		_, err := Lookup(name)
		if err == nil {
			t.Errorf("%q was found", name)
			continue
		}
		for _, n := range Names() {
			if !strings.Contains(err.Error(), n) {
				t.Errorf("%q: %v does not name %s", name, err, n)
			}
		}
	}
}

// What checks and timings run must be numbers: an application begins with random ones.
func TestApplicationsStayBounded(t *testing.T) {
	for _, name := range Applications() {
		st := lookup(t, name)
		p := Problem{Stencil: st, DType: Float64, Size: [3]Size{{512, 1, 1}, {24, 24, 1}, {9, 10, 11}}[st.Dims-1], Steps: 1}
		steps := min(50, st.Steps)
		got := Run(p, Start(p, 1), steps)
		for f, values := range got.Fields {
			if st.Fields[f].Temporary {
				continue
			}
			for i, v := range values.Float {
				if !(math.Abs(v) < 100) {
					t.Errorf("%s: cell %d of %s is %g after %d steps", name, i, st.Fields[f].Name, v, steps)
					break
				}
			}
		}
		if tolerance := Tolerance(Problem{Stencil: st, DType: st.DType, Size: p.Size, Steps: 4}, 4); tolerance > 0.05 {
			t.Errorf("%s: 4 steps may be %.2g wrong, which hides faults", name, tolerance)
		}
	}
}
