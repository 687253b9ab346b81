package all

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"stenciltune/machine/machinetest"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// docs/families.md says how large the spaces are; -run SpacesAre -v prints what is.
func TestSpacesAreAsLargeAsTheDocsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("counts spaces: nothing for the race detector")
	}
	text, err := os.ReadFile("../../docs/families.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	_, table, _ := strings.Cut(string(text), "| stencil | global |")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != len(Families())+3 {
			continue
		}
		for name := range strings.SplitSeq(cells[0], ",") {
			said[strings.TrimSpace(name)] = strings.Join(strings.Fields(strings.Join(cells[1:], " ")), " ")
		}
	}
	rows := map[string][]string{}
	for _, name := range append(stencil.Textbook(), "fdtd3d", "hypterm", "lbm2d", "peronamalik", "shallowwater") {
		st := stenciltest.Lookup(t, name)
		p := stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(false), Steps: 1000}
		var counts []string
		all := 0
		for _, f := range Families() {
			n := 0
			for range space.New(f.Space(p, machinetest.H200())).All() {
				n++
			}
			all += n
			counts = append(counts, thousands(n))
		}
		row := strings.Join(append(counts, thousands(all), thousands(Space(p, machinetest.H200()).Advised().Size())), " ")
		if said[name] != row {
			t.Errorf("%s: the spaces hold %s, docs/families.md says %s", name, row, said[name])
		}
		rows[row] = append(rows[row], name)
	}
	for row, names := range rows {
		t.Logf("| %s | %s |", strings.Join(slices.Sorted(slices.Values(names)), ", "), strings.ReplaceAll(row, " ", " | "))
	}
}

// thousands is a number as the docs write it: 12,345; none is a dash.
func thousands(n int) string {
	switch {
	case n == 0:
		return "-"
	case n < 1000:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
