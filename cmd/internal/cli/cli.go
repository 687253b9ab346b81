// Package cli is what the commands share: the problem's and the search's flags, progress,
// exit codes, completion, man pages.
//
// Data goes to stdout, progress and messages to stderr.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/tuner"
)

// App is what every command shares.
type App struct {
	Name     string // of the program
	Out, Err io.Writer
	Args     []string // of the command line, for records' headers
	Begin    time.Time
	Quiet    bool
	Verbose  bool
	Plain    bool // lines alone, on a terminal too
	JSON     bool
	Store    string // file or URL; "" = the user's own

	// Contents is set by a command that prints what a store holds: it ends with
	// StoreCorrupt if it could not read all of that.
	Contents bool
	saying   sync.Mutex     // tunes may run beside each other
	stores   []*cache.Store // opened
	nowhere  sync.Once      // is said of a closed stdout
}

// Run is a whole program: arguments in, exit code out.
func Run(name string, args []string, stdout, stderr io.Writer, root func(*App) *cobra.Command) int {
	ctx, signalled, stop := withSignals(context.Background())
	defer stop()
	out := &cleaner{w: stdout}
	a := &App{Name: name, Out: out, Err: stderr, Args: args, Begin: time.Now()}
	out.before = func() {
		a.nowhere.Do(func() {
			if nowhere(stdout) {
				a.Say("warning: standard output is closed: what is printed is lost")
			}
		})
	}
	c := root(a)
	c.SilenceUsage, c.SilenceErrors = true, true
	c.Version = tuner.Version
	if r := Revision(); r != "" {
		c.Version += " " + r
	}
	c.SetOut(out)
	c.SetErr(stderr)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usagef("%w; see %s --help", err, name) })
	p := c.PersistentFlags()
	p.BoolVarP(&a.Quiet, "quiet", "q", false, "print nothing on stderr but errors")
	p.BoolVarP(&a.Verbose, "verbose", "v", false, "say on stderr what became of every schedule")
	p.StringVar(&a.Store, "store", "", "`file` of the store, or a database like postgres://user@host/database or mysql://user@host/database (default $TUNE_STORE, else $XDG_DATA_HOME/tune/store.db)")
	p.BoolVar(&a.Plain, "plain", false, "print plain lines on stderr, on a terminal too")
	c.AddCommand(a.manual())
	complete(c)
	strict(c)
	c.SetArgs(args)
	err := c.ExecuteContext(ctx)
	if err == nil {
		err = out.failed // of what prints without a look at it: help, completions
	}
	if text := message(err); text != "" {
		fmt.Fprintf(stderr, "%s: %s\n", name, clean(text))
	}
	code := a.damaged(ExitCode(err))
	if s := signalled.Load(); s != 0 && (code == Interrupted || errors.Is(err, context.Canceled)) {
		code = bySignal + int(s)
	}
	return code
}

// Watch has what is damaged in a store told at the end.
func (a *App) Watch(s *cache.Store) { a.stores = append(a.stores, s) }

// damaged tells what was wrong with the stores that were read, and gives the exit code in
// view of it: what is not found may be what could not be read.
func (a *App) damaged(code int) int {
	for _, s := range a.stores {
		for _, w := range s.Warnings() {
			a.Say("warning: %s", w)
		}
		if !s.Sound() && (code == OK && a.Contents || code == NoSchedule || code == NoDevice) {
			code = StoreCorrupt
		}
	}
	return code
}

// message is what is said of an error: nothing of the user's own stop, but where that is all.
func message(err error) string {
	if err == nil {
		return ""
	}
	lines := slices.DeleteFunc(strings.Split(err.Error(), "\n"), func(l string) bool {
		return l == "" || l == tuner.ErrInterrupted.Error() || strings.HasSuffix(l, context.Canceled.Error())
	})
	if len(lines) == 0 && errors.Is(err, context.Canceled) {
		return "stopped before it was done"
	}
	return strings.Join(lines, "\n")
}

// withSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP and
// leaves the second to the system, which ends the program at once.
func withSignals(parent context.Context) (ctx context.Context, signalled *atomic.Int32, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signalled = new(atomic.Int32)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-c:
			if n, ok := s.(syscall.Signal); ok {
				signalled.Store(int32(n))
			}
			signal.Stop(c)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, signalled, func() { signal.Stop(c); cancel() }
}

// commit is set by a release build, which is made outside of version control.
var commit string

// Revision is the commit the binary was built from, "" if the build does not know.
func Revision() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if rev == "" {
		return ""
	}
	return rev[:min(12, len(rev))] + dirty
}

// Tuner opens the tuner on the store that --store names.
func (a *App) Tuner() (*tuner.Tuner, error) {
	if err := NoPassword(a.Store); err != nil {
		return nil, err
	}
	t, err := tuner.Open(a.Store)
	if err != nil {
		return nil, err
	}
	a.Watch(t.Store())
	t.Revision, t.Mutate = Revision(), FaultMutator()
	return t, nil
}

// NoPassword refuses the name of a store with a password in it: other users of the machine
// can read a command line.
func NoPassword(store string) error {
	if cache.HasPassword(store) {
		return Usagef("a password does not belong on a command line, which others can read: give it in PGPASSWORD, in ~/.pgpass, in MYSQL_PWD, or in TUNE_STORE")
	}
	return nil
}

// Say prints one line for the user unless --quiet.
func (a *App) Say(format string, args ...any) {
	if !a.Quiet {
		a.saying.Lock()
		defer a.saying.Unlock()
		fmt.Fprintf(a.Err, "%s: %s\n", a.Name, clean(fmt.Sprintf(format, args...)))
	}
}

// JSONFlag gives a reading command --json.
func (a *App) JSONFlag(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&a.JSON, "json", false, "print JSON")
	return c
}

// PrintJSON prints a value on stdout.
func (a *App) PrintJSON(v any) error { return WriteJSON(a.Out, v) }

// WriteJSON writes a value as commands print it.
func WriteJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

// OneArg asks for exactly one argument.
func OneArg(question string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s give one argument, not %d", question, len(args))
		}
		return nil
	}
}
