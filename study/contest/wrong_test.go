package contest

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/stencil"
)

var (
	flagWrong  = flag.String("wrong", "", "how searches end under wrong models, on the whole spaces whose file names hold one of these words, or \"all\": an hour of two cores")
	flagSeeds  = flag.Int("seeds", 10, "seeds of each case of -wrong")
	flagDoubts = flag.String("doubts", "", "append what the searches of -wrong say of their best to this file, for TestWithin")
	flagModels = flag.String("models", "", "the models of -wrong whose names hold one of these words; all if empty")
)

// predicted is the cost model with the facts of a machine.
func predicted(p stencil.Problem, m machine.Machine) search.Prior {
	families := all.Families()
	return func(s space.Schedule) float64 {
		return model.Schedule(p, kernels.Find(families, s.Family()), s, model.Facts{}, m).Seconds
	}
}

// wrongModel is a cost model that is off in a way of its own.
type wrongModel struct {
	name string
	of   func(f *Field, p stencil.Problem, right search.Prior) search.Prior // nil = none
	as   *machine.Machine                                                   // whose facts; nil = the recording's
}

// wrongModels are the right one, those with another GPU's facts, with the family of the optimum
// predicted too slow, with all schedules within two parameters of the optimum predicted too slow, with errors at random; and none.
func wrongModels(t *testing.T) []wrongModel {
	list := []wrongModel{{"right", func(_ *Field, _ stencil.Problem, right search.Prior) search.Prior { return right }, nil}}
	for _, id := range []string{"v100", "t4", "rtx2080ti", "a100", "h100", "b200"} {
		m, err := machine.FindKnown(id)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, wrongModel{id, func(_ *Field, p stencil.Problem, _ search.Prior) search.Prior { return predicted(p, m.Machine) }, &m.Machine})
	}
	for _, by := range []float64{3, 6} {
		list = append(list, wrongModel{fmt.Sprintf("family*%g", by), func(f *Field, _ stencil.Problem, right search.Prior) search.Prior {
			return slower(right, by, func(s space.Schedule) bool { return s.Family() == f.Best.Family() })
		}, nil})
	}
	list = append(list, wrongModel{"island*2", func(f *Field, _ stencil.Problem, right search.Prior) search.Prior {
		return slower(right, 2, func(s space.Schedule) bool { return s.Family() == f.Best.Family() && changed(s, f.Best) <= 2 })
	}, nil})
	for _, share := range []float64{0.3, 0.6} {
		list = append(list, wrongModel{fmt.Sprintf("off*%g", share), func(_ *Field, _ stencil.Problem, right search.Prior) search.Prior { return off(right, share) }, nil})
	}
	return append(list, wrongModel{"none", func(*Field, stencil.Problem, search.Prior) search.Prior { return nil }, nil})
}

// slower is a prior by which some schedules take several times as long.
func slower(prior search.Prior, by float64, which func(space.Schedule) bool) search.Prior {
	return func(s space.Schedule) float64 {
		if which(s) {
			return by * prior(s)
		}
		return prior(s)
	}
}

// changed counts the parameters in which two schedules of a family differ.
func changed(a, b space.Schedule) (n int) {
	of, other := strings.Split(a.String(), "/"), strings.Split(b.String(), "/")
	for i := range min(len(of), len(other)) {
		if of[i] != other[i] {
			n++
		}
	}
	return n
}

// normal is a number of the normal distribution that a text decides.
func normal(text string) float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	v := h.Sum64()
	a, b := float64(v>>40)/(1<<24), float64(v&(1<<24-1))/(1<<24)
	return math.Sqrt(-2*math.Log(max(a, 1e-9))) * math.Cos(2*math.Pi*b)
}

// off is the cost model with errors of its own: for each value of each parameter, for each
// family and for each schedule. With share 0.3 it is off by a third in all, with 0.6 by two.
func off(prior search.Prior, share float64) search.Prior {
	return func(s space.Schedule) float64 {
		v := 0.5*normal(s.Family()) + 0.4*normal(s.String())
		for _, q := range []string{"gx", "gy", "wx", "wy", "cw", "vx", "vy", "wp", "ck", "pf", "mb", "ph", "sm", "pm"} {
			v += 0.3 * normal(fmt.Sprint(s.Family(), q, s.Int(q, -1)))
		}
		return prior(s) * math.Exp(share*v)
	}
}

// wanted tells whether a name holds one of the words; any does if there are none.
func wanted(name, words string) bool {
	return words == "" || words == "all" || slices.ContainsFunc(strings.Split(words, ","), func(w string) bool { return strings.Contains(name, w) })
}

// TestSearchesUnderWrongModels prints how searches of whole spaces end, with a tune's own rules
// but for its time limit, if the model is wrong. Without -wrong it is a space in two dimensions and one in three, and all must
// end within 3 % of the optimum.
func TestSearchesUnderWrongModels(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many searches")
	}
	spaces, models, seeds := *flagWrong, *flagModels, *flagSeeds
	if spaces == "" {
		spaces, models, seeds = "gaussian2d,jacobi3d13", "right,a100,b200,family*6,off*0.6", 1
	}
	files, err := filepath.Glob("../../bench/h200/landscapes/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !wanted(file, spaces) {
			continue
		}
		l, _ := recording(t, file)
		p, err := l.Problem()
		if err != nil {
			t.Fatal(err)
		}
		right := predicted(p, l.Header.Machine)
		f := fieldWith(t, l, right)
		for _, w := range wrongModels(t) {
			if !wanted(w.name, models) {
				continue
			}
			f.Enter(Prior(w.name), w.of(f, p, right), partsOf(p, *cmp.Or(w.as, &l.Header.Machine)))
			runs, err := f.each(t.Context(), Entrant{"bayes", Prior(w.name)}, seeds, Rules{Idle: 15, Stall: 250, Budget: 600, Regret: -1, Doubts: doubted()})
			if err != nil {
				t.Fatal(err)
			}
			delete(f.listings, Prior(w.name))
			appendSayings(t, *flagDoubts, f.Name, w.name, runs)
			t.Logf("%-28s %-10s excess %5.2f %% median, %6.2f %% worst; %3.0f evaluations, %3.0f at most; %4.1f s; %s", f.Name, w.name,
				100*quantileOf(runs, excess, 0.5), 100*quantileOf(runs, excess, 1), quantileOf(runs, evaluations, 0.5), quantileOf(runs, evaluations, 1), quantileOf(runs, seconds, 0.5), reasons(runs))
			if worst := quantileOf(runs, excess, 1); *flagWrong == "" && worst > 0.03 {
				t.Errorf("%s: a search ends %.1f %% above the optimum", w.name, 100*worst)
			}
		}
	}
}

// Figures of a run, for quantiles of several.
func excess(r Run) float64      { return r.Points[len(r.Points)-1].Regret }
func evaluations(r Run) float64 { return float64(len(r.Points)) }
func seconds(r Run) float64     { return r.Points[len(r.Points)-1].Time }
func within(r Run) float64      { return r.To(0.01) } // evaluations until the best is within 1 %

// reasons counts why runs ended.
func reasons(runs []Run) string {
	n := map[search.Reason]int{}
	for _, r := range runs {
		n[r.Stop]++
	}
	var list []string
	for _, why := range slices.Sorted(maps.Keys(n)) {
		list = append(list, fmt.Sprintf("%d %s", n[why], why))
	}
	return strings.Join(list, ", ")
}
