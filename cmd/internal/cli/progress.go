package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"stenciltune/timing"
	"stenciltune/tuner"
)

// progress shows how a tune goes: two lines that are drawn again and again if stderr is a
// terminal, one line per phase and every lineEvery if not, every outcome with -v.
type progress struct {
	app   *App
	label string // before every line of one of several tunes; "" = one alone
	total int    // evaluations expected at most
	bars  *mpb.Progress
	bar   *mpb.Bar

	mu     sync.Mutex
	status status
	told   time.Duration // of the tune, when the last line was printed
}

// status is what is shown.
type status struct {
	problem  tuner.Problem
	phase    string
	best     float64 // seconds of a step; 0 = none yet
	progress tuner.Progress
	elapsed  time.Duration // of the tune, as shown
	at       time.Time     // of progress
	trying   string
}

// lineEvery is how often a tune that has no terminal says how it goes, by its own clock.
const lineEvery = 10 * time.Second

// steps are the parts of the bar, more than any terminal has columns.
const steps = 1000

// terminal tells whether a writer is one that can redraw a line.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// watch makes the watcher of a tune.
func (a *App) watch(label string) *progress {
	return &progress{app: a, label: label, status: status{phase: "baseline"}}
}

// Note prints a line.
func (g *progress) Note(format string, args ...any) {
	g.done() // the bar
	g.app.Say("%s", g.label+fmt.Sprintf(format, args...))
}

// Searching shows the bar.
func (g *progress) Searching(p tuner.Problem, expected int) {
	a := g.app
	g.status.problem, g.total, g.status.at = p, expected, time.Now()
	if a.Quiet || a.Verbose || a.Plain || g.label != "" || !terminal(a.Err) {
		return
	}
	paint := func(code, text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }
	if os.Getenv("NO_COLOR") != "" { // no-color.org
		paint = func(_, text string) string { return text }
	}
	g.bars = mpb.New(mpb.WithOutput(a.Err), mpb.WithWidth(24))
	show := func(text func(s status, width int) string) decor.Decorator {
		return decor.Any(func(d decor.Statistics) string { return text(g.now(), d.AvailableWidth) })
	}
	g.bar = g.bars.AddBar(steps, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(show(func(s status, _ int) string { return s.count() })),
		mpb.AppendDecorators(decor.Meta(show(status.line), func(t string) string { return paint("1", t) })),
		mpb.BarExtender(mpb.BarFillerFunc(func(w io.Writer, d decor.Statistics) error {
			_, err := fmt.Fprintln(w, paint("2", cut(g.now().second(), d.AvailableWidth-1)))
			return err
		}), false))
}

// now is what is to be shown. A recording's clock is another than ours, and may be slower: what is shown never goes back.
func (g *progress) now() status {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status.elapsed = max(g.status.elapsed, g.status.progress.Elapsed+time.Since(g.status.at))
	return g.status
}

// count is the phase and how far it is.
func (s status) count() string {
	if s.phase == "search" {
		return fmt.Sprintf("%s %d ", s.phase, s.progress.Evaluated)
	}
	return s.phase + " "
}

// line is the best so far and the time, as much as fits beside a bar.
func (s status) line(width int) string {
	const bar = 12
	var texts []string
	clock := s.clock()
	if s.best > 0 {
		best := "best " + tuner.Rate(float64(s.problem.Size.Cells())/s.best)
		roof := ""
		if r := s.progress.Roofline; r > 0 {
			roof = fmt.Sprintf(", %.0f %% of the roofline", 100*r)
		}
		texts = append(texts, best+roof+" | "+clock, best+" | "+clock, best)
	}
	for _, t := range append(texts, clock) {
		if utf8.RuneCountInString(t)+bar < width {
			return " " + t
		}
	}
	return ""
}

// clock is the time since the tune began, and what it may still take.
func (s status) clock() string {
	t := fmt.Sprintf("%.0f s", s.elapsed.Seconds())
	if end := s.progress.End; end > 0 && s.phase == "search" {
		t += fmt.Sprintf(", about %.0f s of search left", max(0, end-s.elapsed).Seconds())
	}
	return t
}

// second is what is being tried.
func (s status) second() string {
	if s.trying == "" {
		return "compiling"
	}
	return "trying " + s.trying
}

// cut shortens a text to a width, with a mark.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// Phase announces a phase.
func (g *progress) Phase(name string) {
	g.mu.Lock()
	g.status.phase = name
	g.mu.Unlock()
	if g.bar == nil && !g.app.Quiet {
		g.say("%s", name)
	}
	if g.bar != nil && name == "finals" {
		g.bar.SetCurrent(steps - 1)
	}
}

// Trying shows what is checked and timed now.
func (g *progress) Trying(s tuner.Schedule) {
	g.mu.Lock()
	g.status.trying = clean(s.String())
	g.mu.Unlock()
}

// Evaluated shows an outcome.
func (g *progress) Evaluated(o, best tuner.Outcome, p tuner.Progress) {
	g.mu.Lock()
	g.status.best, g.status.progress, g.status.at, g.status.elapsed = best.Seconds(), p, time.Now(), max(g.status.elapsed, p.Elapsed)
	if p.Likely == 0 {
		p.Likely = max(0, g.total-p.Evaluated)
	}
	s := g.status
	line := g.bar == nil && !g.app.Quiet && !g.app.Verbose && p.Elapsed-g.told >= lineEvery
	if line {
		g.told = p.Elapsed
	}
	g.mu.Unlock()
	if g.bar != nil {
		g.bar.SetCurrent(min(int64(steps*p.Evaluated/max(1, p.Evaluated+p.Likely)), steps-1))
	}
	if line {
		g.say("%s%s", s.count(), s.line(1000))
	}
	if g.app.Verbose {
		what := string(o.Status)
		switch {
		case o.Status == timing.OK, o.Status == timing.CutSlow:
			what += fmt.Sprintf(" %s +-%.1f %%", tuner.Rate(float64(s.problem.Size.Cells())/o.Seconds()), 100*o.Series.RelHalfWidth())
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
	text := g.label + fmt.Sprintf(format, args...)
	if g.app.Verbose {
		text = fmt.Sprintf("%.2f s: ", time.Since(g.app.Begin).Seconds()) + text
	}
	g.app.Say("%s", text)
}

// done takes the bar away.
func (g *progress) done() {
	if g.bar != nil {
		g.bar.Abort(true)
		g.bars.Wait()
		g.bar = nil
	}
}
