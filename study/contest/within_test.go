package contest

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"stenciltune/search"
)

var flagWithin = flag.String("within", "", "the file of -doubts: how what searches say of their best holds, and the calibration fitted to it")

// The spaces whose searches the calibration is fitted to; the others judge it.
var fittedTo = []string{"gaussian2d", "heat3d", "jacobi2d9", "jacobi3d27"}

// shares of the statements that are looked at, the one of a config first.
var shares = []float64{0.01, 0.005, 0.02, 0.03, 0.05, 0.1}

// doubted are the shares of which doubts are noted.
func doubted() []float64 {
	if *flagDoubts == "" {
		return nil
	}
	return shares
}

// sayings are what one search said: after each evaluation, how far its best was above the optimum, and
// what it knew of that.
type sayings struct {
	Field, Model string
	Seed         int
	Regret       []float64
	Doubts       [][]search.Doubt // by evaluation and share
	Stop         search.Reason
}

// appendSayings writes what searches with seeds from 1 on said to a file; no name is no file.
func appendSayings(t *testing.T, name, field, model string, runs []Run) {
	if name == "" {
		return
	}
	w, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i, r := range runs {
		s := sayings{Field: field, Model: model, Seed: i + 1, Stop: r.Stop}
		for k := 1; k < len(r.Points); k++ { // the doubts of a point are of the state after the one before
			if !math.IsInf(r.Points[k].Doubts[0].None, -1) {
				s.Regret = append(s.Regret, r.Points[k-1].Regret)
				s.Doubts = append(s.Doubts, r.Points[k].Doubts)
			}
		}
		line, err := json.Marshal(s)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWithin fits the calibration of statements and prints how they hold in the other spaces.
func TestWithin(t *testing.T) {
	if *flagWithin == "" {
		t.Skip("needs -within, a file that -doubts wrote")
	}
	file, err := os.Open(*flagWithin)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var fitted, judged []sayings
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s sayings
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if name, _, _ := strings.Cut(s.Field, "/"); slices.Contains(fittedTo, name) {
			fitted = append(fitted, s)
		} else {
			judged = append(judged, s)
		}
	}
	w := logistic(fitted)
	lower(w, fitted)
	t.Logf("fitted to %d searches: constant, none, since, trust %.3f", len(fitted), w)
	fresh := func(d search.Doubt) float64 { return odds(w, d) }
	for at, share := range shares {
		t.Logf("judged with that, within %g %%: %v", 100*share, crossings(judged, at, fresh))
	}
	for name, of := range map[string][]sayings{"fitted": fitted, "judged": judged} {
		for at, share := range shares {
			t.Logf("%s, within %g %%: %v", name, 100*share, crossings(of, at, stated))
		}
		byModel := map[string][]sayings{}
		for _, s := range of {
			byModel[s.Model] = append(byModel[s.Model], s)
		}
		for _, model := range slices.Sorted(maps.Keys(byModel)) {
			t.Logf("%s, %s, within 1 %%: %v", name, model, crossings(byModel[model], 0, stated))
		}
	}
}

// held is what became of searches that end as soon as a statement is as good as certain.
type held struct {
	searches, reached, held int
	evaluations, of         float64 // until then, and to the search's own end; means of those that reached it
}

func (h held) String() string {
	n := float64(max(h.reached, 1))
	return fmt.Sprintf("%4d searches, %4d certain, %5.1f %% of them rightly, after %3.0f evaluations of %3.0f", h.searches, h.reached, 100*float64(h.held)/n, h.evaluations/n, h.of/n)
}

// stated are the logarithms of the odds by the calibration in use.
func stated(d search.Doubt) float64 { return math.Log(d.Probability()) - math.Log1p(-d.Probability()) }

// odds are their logarithm by a calibration.
func odds(w []float64, d search.Doubt) (sum float64) {
	for i, x := range d.Terms() {
		sum += w[i] * x
	}
	return sum
}

// lower lowers the constant of a calibration until 96 % hold of the statements at which a search would end: the first
// time that one is as good as certain is luck more often than any other.
func lower(w []float64, of []sayings) {
	for ; w[0] > -10; w[0] -= 0.02 {
		reached, held := 0, 0
		for at := range shares {
			h := crossings(of, at, func(d search.Doubt) float64 { return odds(w, d) })
			reached, held = reached+h.reached, held+h.held
		}
		if float64(held) >= 0.96*float64(reached) {
			return
		}
	}
}

// crossings looks for the first time at which searches are as good as certain of the statement of a share.
func crossings(of []sayings, at int, odds func(search.Doubt) float64) (h held) {
	certain := math.Log(search.Certain / (1 - search.Certain))
	for _, s := range of {
		h.searches++
		k := slices.IndexFunc(s.Doubts, func(d []search.Doubt) bool { return odds(d[at]) >= certain })
		if k < 0 {
			continue
		}
		h.reached++
		h.evaluations += float64(k)
		h.of += float64(len(s.Doubts))
		if s.Regret[k] <= shares[at] {
			h.held++
		}
	}
	return h
}

// logistic fits the calibration by Newton's method; each search counts as the root of its length, since what it
// says after each evaluation is much the same.
func logistic(of []sayings) []float64 {
	const n = 4
	w := make([]float64, n)
	for range 25 {
		h, g := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			h.SetSym(i, i, 1e-3)
			g.SetVec(i, -1e-3*w[i])
		}
		for _, s := range of {
			weight := 1 / math.Sqrt(float64(len(s.Doubts)))
			for k, doubts := range s.Doubts {
				for at, d := range doubts {
					x, holds := d.Terms(), 0.0
					if s.Regret[k] <= shares[at] {
						holds = 1
					}
					p := 1 / (1 + math.Exp(-odds(w, d)))
					for i := range n {
						g.SetVec(i, g.AtVec(i)+weight*(holds-p)*x[i])
						for j := range i + 1 {
							h.SetSym(i, j, h.At(i, j)+weight*p*(1-p)*x[i]*x[j])
						}
					}
				}
			}
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(h) || chol.SolveVecTo(&step, g) != nil {
			break
		}
		for i := range n {
			w[i] += step.AtVec(i)
		}
	}
	return w
}
