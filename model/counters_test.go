package model_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/model"
	"stenciltune/space"
	"stenciltune/space/spacetest"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// The bytes that the model counts, against hardware counters recorded on an H200.
func TestBytesAgainstHardwareCounters(t *testing.T) {
	f, err := os.Open("../bench/h200/counters.txt")
	if os.IsNotExist(err) {
		t.Skip("not recorded yet: bench/h200/counters.sh bin/tune > bench/h200/counters.txt, on a GPU")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := landscapes(t)[0].recorded.Header.Machine
	var dram, l2 []float64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var name, dtype, size, schedule string
		var read, written, fetched, stored float64
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if _, err := fmt.Sscan(lines.Text(), &name, &dtype, &size, &schedule, &read, &written, &fetched, &stored); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		p, s := named(t, name, dtype, size, schedule)
		got := model.Predict(p, kernels.Find(all.Families(), s.Family()).Work(p, s), model.Facts{}, m)
		a, b := got.DRAMBytes/(read+written)-1, got.L2Bytes/(fetched+stored)-1
		t.Logf("%-12s %s: DRAM %+.0f %%, L2 %+.0f %%", name, s, 100*a, 100*b)
		dram, l2 = append(dram, math.Abs(a)), append(l2, math.Abs(b))
	}
	for what, off := range map[string][]float64{"DRAM": dram, "L2": l2} {
		slices.Sort(off)
		if len(off) < 40 {
			t.Fatalf("%d schedules", len(off))
		}
		t.Logf("%s: off by %.0f %% in the median of %d", what, 100*off[len(off)/2], len(off))
		if off[len(off)/2] > 0.15 {
			t.Errorf("%s bytes: off by %.0f %%", what, 100*off[len(off)/2])
		}
	}
}

// named reads a problem and a schedule.
func named(t *testing.T, name, dtype, size, schedule string) (stencil.Problem, space.Schedule) {
	t.Helper()
	st := stenciltest.Lookup(t, name)
	d, err := stencil.ParseDType(dtype)
	if err != nil {
		t.Fatal(err)
	}
	n, err := stencil.ParseSize(size, st.Dims)
	if err != nil {
		t.Fatal(err)
	}
	s := spacetest.Schedule(t, schedule)
	return stencil.Problem{Stencil: st, DType: d, Size: n, Steps: cmp.Or(st.Steps, 1000)}, s
}

// Whatever the counters' script asks for must exist.
func TestTheCountersScriptAsksForLegalSchedules(t *testing.T) {
	text, err := os.ReadFile("../bench/h200/counters.sh")
	if err != nil {
		t.Fatal(err)
	}
	m := landscapes(t)[0].recorded.Header.Machine
	n := 0
	for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n()", r) }) {
		_, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "two="), "three="), "/")
		if !ok || !strings.Contains(rest, "=") || !strings.ContainsAny(rest, "0123456789") {
			continue
		}
		legal := 0
		for _, c := range [][2]string{{"jacobi2d", "8192x8192"}, {"jacobi2d9", "8192x8192"}, {"jacobi3d", "512x512x512"}, {"jacobi3d27", "512x512x512"}, {"poisson3d", "512x512x512"}} {
			p, s := named(t, c[0], "float32", c[1], strings.TrimPrefix(strings.TrimPrefix(word, "two="), "three="))
			if kernels.Spaces(all.Families(), p, m).Check(s) == nil {
				legal++
			}
		}
		if legal < 2 {
			t.Errorf("%s is legal for %d of 5 problems", word, legal)
		}
		n++
	}
	if n != 16 {
		t.Errorf("found %d schedules in the script", n)
	}
}
