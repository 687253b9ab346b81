package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/kernels/matmul"
	"stenciltune/stencil"
)

// version is the tool's own; the revision comes from the build.
const version = "0.1.0"

// released is when the version was: the date of the man pages.
var released = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// app is what every command shares.
type app struct {
	out, err io.Writer
	args     []string // of the command line, for the record's header
	begin    time.Time
	quiet    bool
	verbose  bool
	json     bool
	store    string
}

// commit is set by a release build, which is made outside of version control.
var commit string

// revision is the commit the binary was built from, "" if the build does not know.
func revision() string {
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

// say prints one line for the user unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.err, "tune: "+format+"\n", args...)
	}
}

func (a *app) root() *cobra.Command {
	var f tuneFlags
	root := &cobra.Command{
		Use:   "tune --stencil NAME [--device 0|host|replay:h200]",
		Short: "Find the schedule that runs a stencil fastest on a device",
		Long: `tune finds the schedule (kernel family, group shape, work multipliers, column
width, pyramid height) that runs a stencil fastest on a device, proves that its
answer is right, remembers it and prints a config (JSON) on stdout.

Devices: 0, 1 ... or a GPU's UUID or PCI address; host (this machine's processor,
needs a C++ compiler); replay:h200 (recordings that ship with the program).
Without --device the first GPU is taken. tune model and tune explain also know the
facts of GPUs that are not here: model:a100 (see tune devices).

Exit codes: 0 ok, 1 internal error, 2 usage or bad input, 3 no schedule works, one
gives a wrong answer or none of the required grade is stored, 4 device missing or lost, 5 store locked or not
accessible, 6 store corrupt, 130 interrupted, 143 terminated.`,
		Example: `  tune --stencil jacobi3d --device 0 > jacobi3d.json
  tune --stencil jacobi2d --dtype float64 --size 4096x4096 --device 0
  tune --stencil jacobi3d --device replay:h200
  tune --stencil jacobi3d --device 0 --exhaustive --record jacobi3d.jsonl.gz
  tune source --stencil jacobi3d --schedule global/gx=64/gy=4/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=0`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see tune --help", args[0])
			}
			return nil
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       strings.TrimSpace(version + " " + revision()),
		RunE:          func(c *cobra.Command, _ []string) error { return a.tune(c.Context(), f) },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%w; see tune --help", err) })
	p := root.PersistentFlags()
	p.BoolVarP(&a.quiet, "quiet", "q", false, "print nothing on stderr but errors")
	p.BoolVarP(&a.verbose, "verbose", "v", false, "say on stderr what became of every schedule")
	p.StringVar(&a.store, "store", "", "`file` of the store (default $TUNE_STORE, else $XDG_DATA_HOME/tune/store.db)")
	f.bind(root)
	root.AddCommand(a.devices(), a.stencils(), a.source(), a.measure(), a.model(), a.explainCommand(), a.sweep(), a.trace(), a.verify(), a.schema(), a.worker(),
		a.replayBench(), a.landscape(), a.best(), a.emit(), a.retune(), a.storeTools(), a.manual())
	complete(root)
	return root
}

// jsonFlag gives a reading command --json.
func (a *app) jsonFlag(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&a.json, "json", false, "print JSON")
	return c
}

// problemFlags name a problem.
type problemFlags struct {
	stencil, dtype, size string
	steps                *int // nil = the stencil's own
	scalars              []string
}

func (f *problemFlags) bind(c *cobra.Command) {
	c.Flags().StringVar(&f.stencil, "stencil", "", "`name` of a stencil (see tune stencils) or path of a .sl file")
	f.bindCell(c)
	c.Flags().StringVar(&f.size, "size", "", "grid `size`, x fastest, like 512x512x512 (default: the stencil's own)")
	c.Flags().Var((*stepsFlag)(f), "steps", "time `steps` of one run of the program that will use the config (default: the stencil's own, else 1000)")
}

// bindCell binds the flags that say how a cell is computed.
func (f *problemFlags) bindCell(c *cobra.Command) {
	c.Flags().StringVar(&f.dtype, "dtype", "", "element `type`: float32, float64, float16 or bfloat16 (default: the stencil's own)")
	c.Flags().StringArrayVar(&f.scalars, "scalar", nil, "`name=value` of a scalar of the stencil; repeat it for several (default: the stencil's own)")
}

// defaultSteps is how many time steps a run has if neither the command line nor the
// stencil says so.
const defaultSteps = 1000

// stepsFlag is the value of --steps.
type stepsFlag problemFlags

func (f *stepsFlag) Type() string { return "int" }

func (f *stepsFlag) String() string {
	if f.steps == nil {
		return ""
	}
	return strconv.Itoa(*f.steps)
}

func (f *stepsFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<30 {
		return fmt.Errorf("the number of time steps must lie in 1..%d", 1<<30)
	}
	f.steps = &n
	return nil
}

// problem reads the flags. host chooses the smaller default size.
func (f *problemFlags) problem(host bool) (stencil.Problem, error) {
	var p stencil.Problem
	if f.stencil == "" {
		return p, usagef("which stencil? name one with --stencil: %s", strings.Join(stencil.Names(), ", "))
	}
	st, err := loadStencil(f.stencil)
	if err != nil {
		return p, err
	}
	p = stencil.Problem{Stencil: st, DType: st.DType, Size: st.DefaultSize(host), Steps: cmp.Or(st.Steps, defaultSteps)}
	if f.steps != nil {
		p.Steps = *f.steps
	}
	if p.Scalars, err = scalarValues(st, f.scalars); err != nil {
		return p, err
	}
	if f.dtype != "" {
		if p.DType, err = stencil.ParseDType(f.dtype); err != nil {
			return p, usageError{err}
		}
	}
	types := st.DTypes()
	if matmul.Is(p) {
		types, p.Size = matmul.DTypes(), matmul.DefaultSize(host)
	}
	if !slices.Contains(types, p.DType) {
		return p, usagef("--dtype %s: %s is computed in %s", f.dtype, st.Name, joinTypes(types))
	}
	if f.size != "" {
		if p.Size, err = stencil.ParseSize(f.size, st.Dims); err != nil {
			return p, usageError{err}
		}
	}
	return p, nil
}

// scalarTexts are a problem's scalars as --scalar takes them.
func scalarTexts(p stencil.Problem) []string {
	var texts []string
	for i, v := range p.Scalars {
		texts = append(texts, fmt.Sprintf("%s=%v", p.Stencil.Scalars[i].Name, v))
	}
	return texts
}

// maxScalar bounds the values of whole scalars: all of them are exact in a double.
const maxScalar = 1 << 53

// scalarValues reads --scalar: nil where none is given.
func scalarValues(st *stencil.Stencil, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var names []string
	for _, s := range st.Scalars {
		names = append(names, s.Name)
	}
	given := make([]bool, len(names))
	values := stencil.Problem{Stencil: st}.ScalarValues()
	for _, text := range texts {
		name, number, _ := strings.Cut(text, "=")
		i := slices.Index(names, name)
		v, err := strconv.ParseFloat(number, 64)
		switch {
		case len(names) == 0:
			return nil, usagef("--scalar %.80q: %s has no scalars", text, st.Name)
		case i < 0:
			return nil, usagef("--scalar %.80q: the scalars of %s are %s", text, st.Name, strings.Join(names, ", "))
		case given[i]:
			return nil, usagef("--scalar %.80q: %s is given twice", text, name)
		case err != nil || math.IsInf(v, 0) || math.IsNaN(v):
			return nil, usagef("--scalar %.80q: want a number after the =, like %s=%v", text, name, values[i])
		}
		if t := st.Scalars[i].Type; !t.Floating() && (stencil.DType(t).Round(v) != v || math.Abs(v) > maxScalar) {
			return nil, usagef("--scalar %.80q: %v is no %s", text, number, t)
		}
		values[i], given[i] = v, true
	}
	return values, nil
}

func joinTypes(types []stencil.DType) string {
	var names []string
	for _, d := range types {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}
