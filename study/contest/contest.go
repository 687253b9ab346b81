package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
)

// Row is what an entrant achieved on a field over all seeds.
type Row struct {
	Entrant     Entrant
	Evaluations [][2]float64 // per target: median and 95th percentile, one schedule asked for at a time
	Seconds     [][2]float64 // per target: the same of simulated time, compiling ahead
	Area        float64      // mean regret over Options.Time
	Score       float64
	Busy        float64 // share of the time, until it had the best, in which the device was busy; median
	runs        []Run   // compiling ahead
}

// Options say what is run.
type Options struct {
	Entrants []Entrant
	Seeds    int
	Ahead    int     // as Rules
	Time     float64 // simulated seconds of a run that compiles ahead
	Budget   int     // evaluations of a run that asks for one at a time; 0 = all
}

// Hold runs every entrant with every seed, twice: one schedule at a time, which is
// what evaluations are counted in, and compiling ahead as a tune does, which is
// what takes time. Seeds run in parallel and do not depend on each other.
func (f *Field) Hold(ctx context.Context, o Options) ([]Row, error) {
	timed := Rules{Ahead: o.Ahead, Time: o.Time, Regret: -1}
	ending := timed
	ending.Regret = 0 // whoever has the best finds nothing more
	chance, err := f.each(ctx, Entrant{Strategy: "random"}, o.Seeds, timed)
	if err != nil {
		return nil, err
	}
	pace := paceOf(chance)
	if len(pace) == 0 {
		return nil, fmt.Errorf("%s: not one schedule is measured in %g s", f.Name, o.Time)
	}
	var rows []Row
	for _, e := range o.Entrants {
		single, err := f.each(ctx, e, o.Seeds, Rules{Ahead: 1, Budget: o.Budget, Regret: Targets[len(Targets)-1]})
		if err != nil {
			return nil, err
		}
		ahead, err := f.each(ctx, e, o.Seeds, ending)
		if err != nil {
			return nil, err
		}
		row := Row{Entrant: e, Score: f.Score(ahead, pace), runs: ahead}
		for _, share := range Targets {
			row.Evaluations = append(row.Evaluations, spread(single, func(r Run) float64 { return r.To(share) }))
			row.Seconds = append(row.Seconds, spread(ahead, func(r Run) float64 { return r.Seconds(share) }))
		}
		row.Busy = quantileOf(ahead, func(r Run) float64 { return r.Busy }, 0.5)
		for _, r := range ahead {
			row.Area += r.Area(f.first(), o.Time) / float64(len(ahead))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// each runs an entrant with the seeds 1 to n.
func (f *Field) each(ctx context.Context, e Entrant, n int, rules Rules) ([]Run, error) {
	runs, faults := make([]Run, n), make([]error, n)
	var wait sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- true
		wait.Go(func() {
			runs[i], faults[i] = f.Run(ctx, e, uint64(i+1), rules)
			<-slots
		})
	}
	wait.Wait()
	return runs, errors.Join(faults...)
}

// quantileOf is a quantile of a figure of runs.
func quantileOf(runs []Run, figure func(Run) float64, q float64) float64 {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = figure(r)
	}
	return quantile(v, q)
}

// spread is median and 95th percentile of a figure of runs.
func spread(runs []Run, figure func(Run) float64) [2]float64 {
	return [2]float64{quantileOf(runs, figure, 0.5), quantileOf(runs, figure, 0.95)}
}

// Print prints the rows of a field as a table.
func (f *Field) Print(w io.Writer, rows []Row, o Options) error {
	fmt.Fprintf(w, "%s: %d schedules, best %s; %d seeds; median (95th percentile) of evaluations, asked one at a time, and of simulated seconds, %s compiled at once, until the best is within\n",
		f.Name, f.Size, f.Best, o.Seeds, plural(f.recorded.Compilers()))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	var head []string
	for _, unit := range []string{"", " s"} {
		for _, share := range Targets {
			head = append(head, fmt.Sprintf("%g %%%s", 100*share, unit))
		}
	}
	fmt.Fprintf(t, "strategy\t%s\tmean excess over %g s\tscore\tdevice busy\n", strings.Join(head, "\t"), o.Time)
	for _, r := range rows {
		fmt.Fprintf(t, "%s", r.Entrant)
		for _, e := range r.Evaluations {
			fmt.Fprintf(t, "\t%s (%s)", number(e[0], "%.0f"), number(e[1], "%.0f"))
		}
		for _, e := range r.Seconds {
			fmt.Fprintf(t, "\t%s (%s)", number(e[0], "%.1f"), number(e[1], "%.1f"))
		}
		fmt.Fprintf(t, "\t%.2f %%\t%.3f\t%.0f %%\n", 100*r.Area, r.Score, 100*r.Busy)
	}
	return t.Flush()
}

func plural(n int) string {
	if n == 1 {
		return "one kernel"
	}
	return fmt.Sprintf("%d kernels", n)
}

// number is a figure, or a dash if it was not reached.
func number(v float64, format string) string {
	if math.IsInf(v, 1) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
