package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device/replay"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/model"
	"stenciltune/outcome"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/space"
	"stenciltune/study/scale"
	"stenciltune/tuner"
)

// scaleFlags are those of study scale.
type scaleFlags struct {
	landscapes     []string
	gpus           []int
	turn           []float64 // milliseconds: away, held, work
	perHost, tunes int
	compilers      int // of a host
	processors     int // of the database
	seed           uint64
	recorded       []recorded
}

// recorded is a problem with its recording.
type recorded struct {
	recording *replay.Landscape
	costs     map[string]replay.Cost
	listing   *search.Listing
	naive     outcome.Outcome
	best      float64 // seconds a step
}

func (a *app) scale() *cobra.Command {
	var f scaleFlags
	c := &cobra.Command{
		Use:   "scale",
		Short: "Predict how tunes go on many GPUs, from recordings",
		Long: `scale simulates GPUs that share one database: exhaustive walks and tunes of one problem
after another on which all work together, and many tunes, one a GPU. Compilations and
measurements take the recorded seconds; a turn in the database takes what --turn says. It
prints what was busy, and so what holds the rest. See docs/study.md.`,
		Example: `  study scale
  study scale --gpus-per-host 8 --compilers 64 --turn 0.2,1,0.5
  study scale --landscape jacobi3d_f32 --gpus 1,2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runScale(f) },
	}
	c.Flags().StringArrayVar(&f.landscapes, "landscape", nil, "part of the name of shipped `landscapes`, or a file; repeat it for several (default: all that ship)")
	c.Flags().IntSliceVar(&f.gpus, "gpus", []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, "`numbers` of GPUs")
	c.Flags().IntVar(&f.perHost, "gpus-per-host", 1, "GPUs of a host, which share its compilers")
	c.Flags().IntVar(&f.compilers, "compilers", 16, "compilations that a host does at once")
	c.Flags().Float64SliceVar(&f.turn, "turn", []float64{0.4, 2.1, 0.9}, "`ms` of a turn in the database: outside the problem's turn, within it, and of that of a processor")
	c.Flags().IntVar(&f.processors, "processors", 4, "processors of the database")
	c.Flags().IntVar(&f.tunes, "tunes", 1024, "tunes of a catalogue")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the searches")
	return c
}

// valid refuses numbers that make no site.
func (f *scaleFlags) valid() error {
	for _, n := range append([]int{f.perHost, f.compilers, f.processors}, f.gpus...) {
		if n < 1 || n > 4096 {
			return cli.Usagef("%d: numbers of GPUs, compilers and processors are 1 to 4096", n)
		}
	}
	if f.tunes < 1 || f.tunes > 100_000 {
		return cli.Usagef("--tunes %d: use 1 to 100000", f.tunes)
	}
	if len(f.turn) != 3 || slices.ContainsFunc(f.turn, func(t float64) bool { return !(t >= 0 && t <= 1e6) }) || f.turn[2] > f.turn[1] {
		return cli.Usagef("--turn: want three numbers of milliseconds, the last no larger than the second")
	}
	return nil
}

func (a *app) runScale(f scaleFlags) error {
	if err := f.valid(); err != nil {
		return err
	}
	landscapes, err := openLandscapes(f.landscapes)
	if err != nil {
		return err
	}
	for _, l := range landscapes {
		r, err := recordedOf(l)
		if err != nil {
			return err
		}
		f.recorded = append(f.recorded, r)
	}
	fmt.Fprintf(a.Out, "%d to a host with %d compilers; a turn is %g ms away, %g ms held, %g ms of one of %d processors\n",
		f.perHost, f.compilers, f.turn[0], f.turn[1], f.turn[2], f.processors)
	if err := f.together(a.Out, "exhaustive walks", "exhaustive", search.Stop{}); err != nil {
		return err
	}
	if err := f.together(a.Out, "shared tunes", "bayes", search.Usual()); err != nil {
		return err
	}
	return f.catalogue(a.Out)
}

// recordedOf prepares a recording.
func recordedOf(l *replay.Landscape) (r recorded, err error) {
	p, err := l.Problem()
	if err != nil {
		return r, tuner.Input(err)
	}
	if p.Stencil == nil {
		return r, cli.Usagef("the recording of %s is another tuner's: it does not say what compiling took", l.Header.Stencil)
	}
	m := l.Header.Machine
	m.Kind = machine.Replay
	sp := kernels.Spaces(all.Families(), p, m)
	_, best := l.Best()
	r = recorded{recording: l, costs: l.Costs(), listing: search.List(l.Within(sp), prior(model.Fitted, p, m), parts(model.Fitted, p, m)), best: best}
	for _, s := range runner.Naive(p, sp) {
		if o, ok := l.Records[s]; ok {
			r.naive = o
			return r, nil
		}
	}
	return r, cli.Usagef("the recording of %s does not hold the naive kernel", p.Text())
}

// search begins a search of a recording.
func (r recorded) search(strategy string, stop search.Stop, seed uint64) (*scale.Search, error) {
	s, err := r.listing.New(strategy, seed)
	if err != nil {
		return nil, err
	}
	found := &scale.Search{Strategy: s, Stop: stop}
	found.Tell(r.naive, 0)
	return found, nil
}

// job is the problem, with a source of schedules.
func (r recorded) job(s scale.Source) scale.Job {
	return scale.Job{Source: s, Recording: r.recording, Costs: r.costs}
}

// site is one of so many GPUs.
func (f *scaleFlags) site(gpus int) scale.Site {
	return scale.Site{GPUs: gpus, PerHost: f.perHost, Compilers: f.compilers,
		Database: scale.Database{Away: f.turn[0] / 1e3, Held: f.turn[1] / 1e3, Work: f.turn[2] / 1e3, Processors: f.processors}}
}

// together prints searches of the recordings one after another, all GPUs on each.
func (f *scaleFlags) together(to io.Writer, title, strategy string, stop search.Stop) error {
	t := newScaleTable(to, fmt.Sprintf("%s of %d problems, one after another, all GPUs on each", title, len(f.recorded)), "evaluated\tlost")
	for _, n := range f.gpus {
		var sum scale.Result
		lost := 0.0
		for _, r := range f.recorded {
			s, err := r.search(strategy, stop, f.seed)
			if err != nil {
				return err
			}
			sum = sum.Then(scale.Run(f.site(n), []scale.Job{r.job(s)}, true))
			lost += (s.Best()/r.best - 1) / float64(len(f.recorded))
		}
		t.row(n, sum, fmt.Sprintf("%d\t%.1f %%", sum.Evaluated, 100*lost))
	}
	return t.Flush()
}

// catalogue prints many tunes, each on one GPU: those of the recordings in turn, which propose what
// they propose on one GPU with a database of its own.
func (f *scaleFlags) catalogue(to io.Writer) error {
	var orders [][]space.Schedule
	for _, r := range f.recorded {
		s, err := r.search("bayes", search.Usual(), f.seed)
		if err != nil {
			return err
		}
		scale.Run(f.site(1), []scale.Job{r.job(s)}, true)
		orders = append(orders, s.Order[1:])
	}
	t := newScaleTable(to, fmt.Sprintf("%d tunes, each on one GPU", f.tunes), "evaluated")
	for _, n := range f.gpus {
		var jobs []scale.Job
		for i := range f.tunes {
			at := i % len(orders)
			jobs = append(jobs, f.recorded[at].job(&scale.List{Left: orders[at]}))
		}
		r := scale.Run(f.site(n), jobs, false)
		t.row(n, r, strconv.Itoa(r.Evaluated))
	}
	return t.Flush()
}

// scaleTable prints results by the number of GPUs.
type scaleTable struct {
	*tabwriter.Writer
	first float64 // seconds of the first row, as many times as it has GPUs
}

func newScaleTable(to io.Writer, title, more string) *scaleTable {
	fmt.Fprintf(to, "\n%s\n", title)
	t := &scaleTable{Writer: tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)}
	fmt.Fprintf(t, "GPUs\tseconds\ttimes as fast\tGPUs busy\tcompilers\tturns of a problem\tdatabase\theld by\t%s\n", more)
	return t
}

func (t *scaleTable) row(n int, r scale.Result, more string) {
	if t.first == 0 {
		t.first = r.Seconds
	}
	percent := func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }
	fmt.Fprintf(t, "%d\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\n", n, r.Seconds, t.first/r.Seconds, percent(r.GPU), percent(r.Compiler), percent(r.Turn), percent(r.Processor), r.HeldBy(), more)
}
