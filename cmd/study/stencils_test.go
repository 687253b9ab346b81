package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
	"stenciltune/cmd/internal/clitest"
	"stenciltune/stencil/stenciltest"
)

func TestStencilsBenchTunesALineEach(t *testing.T) {
	store := clitest.StoreIn(t)
	args := []string{"stencils", "--match", "jacobi[23]d", "--device", "replay:h200", "--budget", "40"}
	p := clitest.Command(t, store, append(args, "--json")...)
	if code := p.Run(t); code != 0 {
		t.Fatalf("exit %d\n%s", code, &p.Stderr)
	}
	var rows []benchRow
	if err := json.Unmarshal(p.Stdout.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Stencil != "jacobi2d" || rows[1].Stencil != "jacobi3d" {
		t.Fatalf("%+v", rows)
	}
	for _, r := range rows {
		if r.Speedup < 1 || r.NaiveSeconds < r.SecondsPerStep || r.CellsPerSecond < 1e11 || r.Schedule == "" || r.Failed != "" || r.Sizes != sizesDefault {
			t.Errorf("%+v", r)
		}
	}
	// Again, as a table: the store answers.
	q := clitest.Command(t, store, args...)
	code, lines := q.Run(t), strings.Split(strings.TrimSpace(q.Stdout.String()), "\n")
	if code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[2], "jacobi3d     float32  512x512x512") || !strings.HasSuffix(lines[2], rows[1].Schedule) ||
		strings.Count(q.Stderr.String(), "answered from the store") != 2 {
		t.Errorf("exit %d\n%s\n%s", code, &q.Stdout, &q.Stderr)
	}
}

func TestStencilsBenchSaysWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"--sizes 4y: want default, thesis, paper or a size", cli.Usage, []string{"--sizes", "4y"}},
		{"no stencil is left", cli.Usage, []string{"--match", "jacobi"}},
		{"no stencil is left", cli.Usage, []string{"--match", "jacobi1d", "--sizes", "40x40"}},
		{"--match: error parsing", cli.Usage, []string{"--match", "("}},
		{"no recording of heat2d", cli.NoDevice, []string{"--match", "heat2d", "--device", "replay:h200"}},
	} {
		p := clitest.Command(t, clitest.StoreIn(t), append([]string{"stencils"}, c.args...)...)
		if code := p.Run(t); code != c.code || !strings.Contains(p.Stderr.String(), c.want) {
			t.Errorf("%v: exit %d\n%s", c.args, code, &p.Stderr)
		}
	}
}

// A problem that no device could hold is a line that says so; the others are tuned.
func TestStencilsBenchGoesOnAfterAProblemThatDoesNotFit(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for compilers: nothing for the race detector")
	}
	needDevice(t, "host")
	p := clitest.Command(t, clitest.StoreIn(t), "stencils", "--match", "jacobi2d", "--sizes", "1000000x1000000,60x50", "--device", "host", "--budget", "2")
	code, out := p.Run(t), p.Stdout.String()
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != cli.NoSchedule || len(lines) != 3 || !strings.Contains(lines[1], "choose a smaller size") ||
		!strings.Contains(lines[2], "/gx=") || !strings.Contains(p.Stderr.String(), "no schedule for jacobi2d 1000000x1000000") {
		t.Errorf("exit %d\n%s%s", code, out, &p.Stderr)
	}
}

func TestSizesAreThoseOfTheSources(t *testing.T) {
	texts := func(set, name string) (list []string) {
		st := stenciltest.Lookup(t, name)
		sizes, err := sizesOf(set, st, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sizes {
			list = append(list, s.size.Text(st.Dims))
		}
		return list
	}
	for _, c := range []struct{ set, name, want string }{
		{"thesis", "gaussian2d", "4095x4095 8191x8191"}, {"thesis", "srad2", "2047x2047 4095x4095"}, {"thesis", "hotspot3d", "255x255x255 511x511x511"},
		{"thesis", "sum3d-i8", "255x255x255"}, {"paper", "pathfinder", "400000"}, {"paper", "plate", "1000x1000"}, {"paper", "life3d", "60x60x60"},
		{"default", "jacobi2d", "8192x8192"}, {"12x13", "jacobi2d", "12x13"}, {"12x13", "jacobi3d", ""},
	} {
		if got := strings.Join(texts(c.set, c.name), " "); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.set, c.name, got, c.want)
		}
	}
}
