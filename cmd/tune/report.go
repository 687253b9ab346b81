package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device/replay"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/report"
	"stenciltune/runner"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// reportFlags choose the tunes of a report or a plot.
type reportFlags struct {
	stencils            []string
	dtype, size, device string
}

func (f *reportFlags) bind(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.stencils, "stencil", nil, "only of this stencil: its `name`, or the beginning of its hash; repeat it for several (default: all)")
	c.Flags().StringVar(&f.dtype, "dtype", "", "only of this element `type`, like float64")
	c.Flags().StringVar(&f.size, "size", "", "only of this grid `size`, like 512x512x512")
	c.Flags().StringVar(&f.device, "device", "", "only of this device in the store: its `name`, or a part of it; or a recording: replay:h200, replay:FILE or FILE (.jsonl.gz)")
}

func (a *app) report() *cobra.Command {
	var f reportFlags
	var file string
	c := &cobra.Command{
		Use:   "report [--stencil NAME ...] [--device NAME|replay:h200|FILE] [-o FILE]",
		Short: "Show what happened in tunes: a page with charts, in one file",
		Long: `report writes one HTML file that needs no network: how the search went, what was
predicted and what measured, the roofline, what mattered, the winner's source and where
its time goes. It is of what the store holds, or of a recording: of that it also replays
a search, in simulated time, against the recorded optimum.

--json gives the numbers behind the charts instead (go doc ./report), on standard output
unless -o names a file.`,
		Example: `  tune report -o report.html
  tune report --stencil jacobi3d --device replay:h200 -o jacobi3d.html
  tune report --device bench/h200/landscapes/nvidia-h200_heat3d_f32_384x384x384.jsonl.gz`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d, err := a.reportData(c.Context(), f)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if a.JSON {
				err = cli.WriteJSON(&b, d)
			} else {
				err = report.Page(&b, reportTitle(d), d, "")
			}
			if err != nil {
				return err
			}
			if file == "-" || a.JSON && !c.Flags().Changed("output") {
				_, err := a.Out.Write(b.Bytes())
				return err
			}
			if err := cache.WriteFile(file, b.Bytes()); err != nil {
				return err
			}
			what := "; open it in a browser"
			if a.JSON {
				what = ""
			}
			a.Say("%s: %d tunes, %.1f MB%s", file, len(d.Tunes), float64(b.Len())/1e6, what)
			return nil
		},
	}
	f.bind(c)
	c.Flags().StringVarP(&file, "output", "o", "report.html", "`file` to write; - is standard output")
	return a.JSONFlag(c)
}

// fits tells whether a problem's element type and size are chosen.
func (f *reportFlags) fits(dtype, size string) bool {
	return (f.dtype == "" || f.dtype == dtype) && (f.size == "" || f.size == size)
}

// reportTitle names a report.
func reportTitle(d report.Data) string {
	if len(d.Tunes) == 1 {
		return d.Tunes[0].Problem + " on " + d.Tunes[0].Device.Name
	}
	return fmt.Sprintf("%d tunes", len(d.Tunes))
}

// toolName is this program and its revision.
func toolName() string { return strings.TrimSpace("tune " + tuner.Version + " " + cli.Revision()) }

// reportData gathers the tunes of a report.
func (a *app) reportData(ctx context.Context, f reportFlags) (report.Data, error) {
	d := report.Data{Format: report.Format, Tool: toolName(), Time: time.Now().UTC()}
	name, isReplay := strings.CutPrefix(f.device, tuner.ReplayPrefix)
	gather := a.storedTunes
	if isReplay || strings.HasSuffix(name, ".jsonl.gz") {
		gather = a.recordedTunes
	}
	var err error
	d.Tunes, err = gather(ctx, f, name)
	if err == nil && len(d.Tunes) == 0 {
		err = cli.NoAnswerf("nothing to report: tune first, or report on a recording with --device replay:h200 (tune store list shows what is stored)")
	}
	return d, err
}

// recordedTunes are those of the recordings that a name means: all of a device, or a file.
func (a *app) recordedTunes(ctx context.Context, f reportFlags, name string) ([]report.Tune, error) {
	if strings.HasSuffix(name, ".jsonl.gz") && !strings.Contains(name, "/") {
		name = "./" + name // a file, and no shipped recording
	}
	landscapes, err := replay.Match(name)
	if err != nil {
		return nil, err
	}
	stencils := slices.Clone(f.stencils)
	for i, s := range stencils {
		if strings.HasSuffix(s, ".sl") {
			st, err := tuner.LoadStencil(s)
			if err != nil {
				return nil, err
			}
			stencils[i] = st.Hash
		}
	}
	var tunes []report.Tune
	for _, l := range landscapes {
		h := l.Header
		if !f.fits(string(h.DType), h.Size.Text(dims(h.Size))) || len(stencils) > 0 && !slices.ContainsFunc(stencils, func(s string) bool {
			return s == h.Stencil || len(s) >= 8 && strings.HasPrefix(h.StencilHash, s)
		}) {
			continue
		}
		t, err := a.recordedTune(ctx, l)
		if err != nil {
			return nil, err
		}
		tunes = append(tunes, t)
	}
	if len(tunes) == 0 && len(landscapes) > 0 {
		return nil, cli.NoAnswerf("no recording of %s is of what --stencil, --dtype and --size choose (tune devices lists them)", name)
	}
	return tunes, nil
}

// dims are the axes on which a grid has more than one cell.
func dims(n stencil.Size) int {
	d := len(n)
	for d > 1 && n[d-1] <= 1 {
		d--
	}
	return d
}

// recordedTune is a recording and a search replayed on it.
func (a *app) recordedTune(ctx context.Context, l *replay.Landscape) (report.Tune, error) {
	p, err := l.Problem()
	r := report.Run{Origin: report.Recording, Problem: p, Machine: l.Header.Machine, Regime: l.Header.Regime, Recorded: true,
		Name: strings.Join([]string{l.Header.Stencil, l.Header.DType.Short(), l.Header.Size.Text(dims(l.Header.Size))}, "/")}
	for _, s := range l.Order {
		r.Outcomes = append(r.Outcomes, l.Records[s])
	}
	r.Machine.Kind = machine.Replay
	if err != nil || p.Stencil == nil {
		r.Problem = stencil.Problem{Size: l.Header.Size}
		if err != nil {
			r.Notes = append(r.Notes, err.Error()+": nothing is predicted, and no search was replayed")
		}
		return report.Make(r), nil
	}
	if err := a.replaySearch(ctx, l, p, &r); err != nil {
		if ctx.Err() != nil {
			return report.Tune{}, err
		}
		r.Notes = append(r.Notes, "no search could be replayed: "+err.Error())
	}
	return a.finish(r), nil
}

// replaySearch tunes on a recording, with a store of its own that is thrown away.
func (a *app) replaySearch(ctx context.Context, l *replay.Landscape, p stencil.Problem, r *report.Run) error {
	dir, err := os.MkdirTemp("", "tune-report")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := tuner.Open(filepath.Join(dir, "store.db"))
	if err != nil {
		return err
	}
	w := &recorder{}
	c, err := t.Tune(ctx, p, replay.New(l), tuner.Options{Regime: l.Header.Regime, Watcher: w})
	r.Search = w.list
	if err != nil {
		return err
	}
	r.Config = &c
	return nil
}

// recorder notes what a search evaluates.
type recorder struct{ list []report.Evaluation }

func (w *recorder) Trying(tuner.Schedule)        {}
func (w *recorder) Phase(string)                 {}
func (w *recorder) Note(string, ...any)          {}
func (w *recorder) Searching(tuner.Problem, int) {}
func (w *recorder) Evaluated(o, _ tuner.Outcome, p tuner.Progress) {
	w.list = append(w.list, report.Evaluation{Schedule: o.Schedule, Seconds: p.Elapsed.Seconds()})
}

// finish predicts with today's families, and adds source and explanation of the winner, if the
// stencil is known.
func (a *app) finish(r report.Run) report.Tune {
	if r.Problem.Stencil == nil {
		return report.Make(r)
	}
	t := new(tuner.Tuner)
	r.Families, r.Space = all.Families(), t.Space(r.Problem, r.Machine)
	if list := runner.Naive(r.Problem, r.Space); len(list) > 0 {
		r.Naive = list[0]
	}
	out := report.Make(r)
	best := space.Schedule{}
	if r.Config != nil {
		best, _ = space.ParseSchedule(r.Config.Schedule.Text) // a config's text was checked
	} else if out.Best >= 0 {
		best = r.Outcomes[out.Best].Schedule
	}
	if best.IsZero() || r.Space.Check(best) != nil {
		return out
	}
	k := t.Kernel(r.Problem, best)
	out.Source = k.Head() + k.Line() + k.Source
	s := subject{machine: r.Machine, records: map[space.Schedule]tuner.Outcome{}}
	for _, o := range r.Outcomes {
		s.records[o.Schedule] = o
	}
	var b strings.Builder
	for _, x := range []struct {
		role     string
		schedule space.Schedule
	}{{"winner", best}, {"baseline", r.Naive}} {
		if x.schedule.IsZero() {
			continue
		}
		if err := printExplained(&b, r.Problem, s.explain(x.role, r.Problem, t, x.schedule)); err != nil {
			return out // a strings.Builder does not fail
		}
		b.WriteByte('\n')
	}
	out.Explanation = b.String()
	return out
}
