package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"stenciltune/timing"
	"stenciltune/tuner"
)

// progress shows how a tune goes: a bar with the best so far if stderr is a
// terminal, one line per phase if not, every outcome with -v.
type progress struct {
	app     *App
	problem tuner.Problem
	total   int // evaluations expected
	bars    *mpb.Progress
	bar     *mpb.Bar

	mu    sync.Mutex
	phase string
	best  string
}

// terminal tells whether a writer is one that can redraw a line.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// watch makes the watcher of a tune.
func (a *App) watch() *progress { return &progress{app: a, phase: "baseline"} }

// Note prints a line.
func (g *progress) Note(format string, args ...any) {
	g.done() // the bar
	g.app.Say(format, args...)
}

// Searching shows the bar.
func (g *progress) Searching(p tuner.Problem, expected int) {
	a, total := g.app, expected
	g.problem, g.total = p, expected
	if a.Quiet || a.Verbose || !terminal(a.Err) {
		return
	}
	g.bars = mpb.New(mpb.WithOutput(a.Err), mpb.WithWidth(64))
	text := func(s *string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			g.mu.Lock()
			defer g.mu.Unlock()
			return *s
		})
	}
	g.bar = g.bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(text(&g.phase), decor.CountersNoUnit(" %d/%d")),
		mpb.AppendDecorators(text(&g.best)))
}

// Phase announces a phase.
func (g *progress) Phase(name string) {
	g.mu.Lock()
	g.phase = name
	g.mu.Unlock()
	if g.bar == nil && !g.app.Quiet {
		g.say("%s", name)
	}
}

// Evaluated shows an outcome.
func (g *progress) Evaluated(o, best tuner.Outcome, p tuner.Progress) {
	if best.Seconds() > 0 {
		g.mu.Lock()
		g.best = fmt.Sprintf("best %.1f GCells/s", g.rate(best.Seconds())/1e9)
		g.mu.Unlock()
	}
	if g.bar != nil {
		g.bar.SetCurrent(int64(min(p.Evaluated, g.total-1)))
	}
	if g.app.Verbose {
		what := string(o.Status)
		switch {
		case o.Status == timing.OK, o.Status == timing.CutSlow:
			what += fmt.Sprintf(" %.1f GCells/s +-%.1f %%", g.rate(o.Seconds())/1e9, 100*o.Series.RelHalfWidth())
		case o.Reason != "":
			what += ": " + o.Reason
		}
		if o.Known {
			what += " (stored)"
		}
		g.say("%d %s %s", p.Evaluated, o.Schedule, what)
	}
}

// say prints a line; with -v, how long after the program's start.
func (g *progress) say(format string, args ...any) {
	if g.app.Verbose {
		format = fmt.Sprintf("%.2f s: ", time.Since(g.app.Begin).Seconds()) + format
	}
	g.app.Say(format, args...)
}

// rate is cells per second.
func (g *progress) rate(seconds float64) float64 { return float64(g.problem.Size.Cells()) / seconds }

// done takes the bar away.
func (g *progress) done() {
	if g.bar != nil {
		g.bar.Abort(true)
		g.bars.Wait()
		g.bar = nil
	}
}
