package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device"
	"stenciltune/device/verify"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

type verifyFlags struct {
	cli.ProblemFlags
	devices []string
	family  string
	cases   int
	only    int
	seed    uint64
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE.sl|NAME",
		Short: "Prove kernels of random schedules on random grids against the reference",
		Long: `Draws legal schedules of every kernel family, so that every value of every parameter
has a case, and small grids, a quarter of them whole tiles. Runs the kernels and compares
every cell, and what is folded of all (Reduce, StepScalar), with the float64 reference:
on the host, and on the first GPU if there is one, in the stencil's element type and in
float64. Says what was tried, how far off the worst cell was, and what the cases leave
unproved. Stops at the first wrong answer, says how to run that case again, and ends with
code 3.`,
		Example: "  tune verify Hotspot.sl\n  tune verify srad2 --device 0 --cases 500 --seed 7\n  tune verify Hotspot.sl --scalar Rx=0.5 --dtype float64",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("verify which stencil? name one file or one of %s", strings.Join(stencil.Names(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Stencil = args[0]
			if c.Flags().Changed("case") && f.only < 1 {
				return cli.Usagef("--case %d: the cases are numbered from 1", f.only)
			}
			return a.runVerify(c.Context(), f)
		},
	}
	f.BindCell(c)
	c.Flags().StringArrayVar(&f.devices, "device", nil, "`device`: host or a GPU; repeat it for several (default: host, and the first GPU if there is one)")
	c.Flags().StringVar(&f.family, "family", "", "kernels of the family `name` alone (default: of all)")
	c.Flags().IntVar(&f.cases, "cases", 100, "`n` random schedules on each device")
	c.Flags().IntVar(&f.only, "case", 0, "only the `n`th of them")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the schedules, grids and input data")
	return a.JSONFlag(c)
}

// verification is what `tune verify --json` prints.
type verification struct {
	Stencil  string             `json:"stencil"`
	Hash     string             `json:"hash"`
	DType    stencil.DType      `json:"dtype"` // the stencil's, or the one asked for
	Boundary string             `json:"boundary"`
	Scalars  map[string]float64 `json:"scalars,omitempty"`
	Seed     uint64             `json:"seed"`
	dims     int
	Devices  []deviceProof     `json:"devices"`
	Missing  map[string]string `json:"missing,omitempty"` // devices that are not here, and why
}

// deviceProof is what was tried on a device in one element type.
type deviceProof struct {
	Device   string              `json:"device"`
	DType    stencil.DType       `json:"dtype"`
	Name     string              `json:"name"`
	Kind     machine.Kind        `json:"kind"`
	Cases    int                 `json:"cases"`
	Families map[string]int      `json:"families"`           // cases of each
	Unable   map[string]string   `json:"unable,omitempty"`   // families that cannot run the stencil, and why
	Grids    map[verify.Kind]int `json:"grids"`              // cases of each kind
	Untried  map[string][]string `json:"untried,omitempty"`  // by family, values of parameters without a case on several tiles
	Unbuilt  []string            `json:"unbuilt,omitempty"`  // kernels that were not tried, for a compiler did not end in time
	Smallest stencil.Size        `json:"smallest,omitempty"` // grid, by cells
	Largest  stencil.Size        `json:"largest,omitempty"`
	Steps    [2]int              `json:"steps"` // of a case: fewest, most
	MaxError float64             `json:"max_error"`
	Nearest  errorBound          `json:"nearest"`           // of the case of which a cell came nearest to its bound
	Share    float64             `json:"share"`             // of its bound, that the error of that cell is, in the median case
	Compared int64               `json:"compared"`          // cells of all cases
	Blind    int64               `json:"blind"`             // of these, that rounding alone may give nearly any value
	Reduced  int                 `json:"reduced,omitempty"` // cases in which the number of Reduce was compared
	Alike    int                 `json:"alike,omitempty"`   // cases after which nearly all cells of each field have one value
	Complete bool                `json:"complete"`          // every branch was taken, and most cells compared
	Untaken  []string            `json:"untaken,omitempty"` // branches that no cell took, with their places in the file
	Faint    []stencil.Faint     `json:"faint,omitempty"`   // points that may be read wrongly unseen
	Warnings []string            `json:"warnings,omitempty"`
	Wrong    string              `json:"wrong,omitempty"`
	Again    string              `json:"again,omitempty"` // the command that runs the wrong case alone
}

// errorBound is the error of a cell, and the largest that rounding may cause there.
type errorBound struct {
	Error     float64 `json:"error"`
	Tolerance float64 `json:"tolerance"`
	Steps     int     `json:"steps"`
}

func (a *app) runVerify(ctx context.Context, f verifyFlags) error {
	p, err := f.On("host")
	switch {
	case err != nil:
		return err
	case f.cases < 1 || f.cases > 1e6:
		return cli.Usagef("--cases %d: from 1 to 1000000", f.cases)
	case f.family != "" && kernels.Find(all.Families(), f.family) == nil:
		return cli.Usagef("--family %s: there is none; there are %s", f.family, familyNames())
	}
	for _, name := range f.devices {
		if strings.HasPrefix(name, "replay") {
			return cli.Usagef("--device %s: a recording computes nothing; use host or a GPU", name)
		}
	}
	v := verification{Stencil: p.Stencil.Name, Hash: p.Stencil.Hash, DType: p.DType, Boundary: p.Stencil.Outside(), Scalars: tuner.Scalars(p), Seed: f.seed, dims: p.Stencil.Dims}
	names := f.devices
	if len(names) == 0 {
		names = []string{"host", "0"}
	}
	var missing []error
	for _, name := range names {
		d, err := tuner.OpenDevice(ctx, name, p)
		if errors.Is(err, device.ErrMissing) && len(f.devices) == 0 {
			missing = append(missing, err)
			if v.Missing == nil {
				v.Missing = map[string]string{}
			}
			v.Missing[name] = err.Error()
			continue
		}
		if err != nil {
			return err
		}
		for _, dtype := range f.types(p) {
			p.DType = dtype
			var proof deviceProof
			proof, err = a.prove(ctx, d, name, p, f)
			if proof.Cases > 0 || err == nil {
				v.Devices = append(v.Devices, proof)
			}
			if errors.Is(err, context.Canceled) {
				a.Say("interrupted after %d cases on %s", proof.Cases, name)
				err = cli.Silent(cli.Interrupted)
			}
			if err != nil {
				break
			}
		}
		d.Close()
		if err != nil {
			return errors.Join(a.printVerification(v), err)
		}
	}
	if len(v.Devices) == 0 {
		return errors.Join(missing...)
	}
	return a.printVerification(v)
}

// types are the element types to prove kernels in: the stencil's and, unless one was asked for, float64,
// whose bound is so narrow that it sees what rounding hides in others.
func (f *verifyFlags) types(p stencil.Problem) []stencil.DType {
	if f.DType != "" || !p.Stencil.DType.Floating() || p.Stencil.DType == stencil.Float64 {
		return []stencil.DType{p.DType}
	}
	return []stencil.DType{p.Stencil.DType, stencil.Float64}
}

// prove runs the cases on a device, up to the first wrong one.
func (a *app) prove(ctx context.Context, d device.Device, name string, p stencil.Problem, f verifyFlags) (deviceProof, error) {
	m := d.Machine()
	proof := deviceProof{Device: name, DType: p.DType, Name: m.Name, Kind: m.Kind, Families: map[string]int{}, Unable: map[string]string{}, Grids: map[verify.Kind]int{}}
	families := all.Families()
	if f.family != "" {
		families = []kernels.Family{kernels.Find(families, f.family)}
	}
	source := verify.NewSource(m, families)
	_, unable := source.Able(p)
	for _, f := range unable {
		proof.Unable[f.Name()] = source.Why(p, f)
	}
	first, n := 0, f.cases
	if f.only > 0 {
		first, n = f.only-1, 1
	} else {
		proof.Untried = source.Untried(p, f.seed, n)
	}
	cases, err := source.Cases(p, f.seed, first, n)
	if err != nil {
		return proof, tuner.Input(err)
	}
	if mutate := cli.FaultMutator(); mutate != nil {
		for i := range cases {
			cases[i].Kernel = mutate(cases[i].Kernel)
		}
	}
	a.Say("%s in %s on %s: %d cases", p.Stencil.Name, p.DType, name, n)
	var wrong error
	var shares []float64
	seen := ""
	at := first
	err = verify.Run(ctx, d, cases, func(c verify.Case, r verify.Result) bool {
		at++
		if r.Failure != nil && r.Failure.Status == timing.CompileTimeout { // a kernel that tune does not take either
			proof.Unbuilt = append(proof.Unbuilt, c.Name())
			a.Say("%d %s was not tried: %s", at, c.Name(), r.Failure.Reason)
			return true
		}
		proof.count(c, r)
		shares = append(shares, r.Share)
		seen = stencil.Together(seen, r.Seen)
		fault := r.Fault()
		if a.Verbose {
			a.Say("%d %s, %d steps: %s", at, r.Name(c), c.Steps(), choose(fault == "", fmt.Sprintf("error %.2g of %.2g", r.MaxError, r.Tolerance), fault))
		}
		if fault != "" {
			proof.Wrong, proof.Again = r.Name(c)+": "+fault, f.again(name, p, at)
			wrong = cli.NoAnswerf("%s; run it again with: %s", proof.Wrong, proof.Again)
		}
		return wrong == nil
	})
	if slices.Sort(shares); len(shares) > 0 {
		proof.Share = timing.Median(shares)
	}
	proof.judge(p, seen)
	for _, w := range proof.Warnings {
		a.Say("warning: %s", w)
	}
	return proof, errors.Join(err, wrong)
}

// judge says what the cases leave open.
func (v *deviceProof) judge(p stencil.Problem, seen string) {
	if v.Cases == 0 { // interrupted before the first one ended
		return
	}
	v.Untaken = p.Stencil.Untaken(seen)
	v.Faint = stencil.FaintPoints(p)
	v.Complete = len(v.Untaken) == 0 && 2*v.Blind <= v.Compared && v.Wrong == ""
	warn := func(format string, args ...any) { v.Warnings = append(v.Warnings, fmt.Sprintf(format, args...)) }
	for _, u := range v.Untaken {
		warn("%s, in any cell of these cases: what is computed there is not proved", u)
	}
	for _, f := range v.Faint {
		warn("%s moves an answer by %.2g of what rounding may in %s: a kernel that reads the cell beside it is not found", f.Point, f.Share, p.DType)
	}
	if 2*v.Alike > v.Cases {
		warn("in %d of %d cases in %s nearly all cells are alike at the end, so that a wrong neighbour hardly shows: let InputRange in the file name values of which a pattern stays, {0, 0, 0, 1}", v.Alike, v.Cases, p.DType)
	}
	if p.Stencil.Reduce != nil && v.Reduced < v.Cases && v.Wrong == "" {
		warn("the number of Reduce can be anything in %d of %d cases in %s, so that nothing is proved of it: keep what it folds bounded with --scalar, or with InputRange in the file", v.Cases-v.Reduced, v.Cases, p.DType)
	}
	if v.Blind > 0 {
		warn("rounding alone may give nearly any value in %d of %d cells in %s, so that nothing is proved of them: keep the values of %s %s", v.Blind, v.Compared, p.DType, p.Stencil.Name, stencil.Provable)
	}
}

// count adds a case to what was tried.
func (v *deviceProof) count(c verify.Case, r verify.Result) {
	v.Cases++
	v.Families[c.Kernel.Schedule.Family()]++
	for _, k := range verify.Kinds() {
		if c.Is(k) {
			v.Grids[k]++
		}
	}
	n, steps := c.Problem.Size, c.Steps()
	if v.Cases == 1 || n.Cells() < v.Smallest.Cells() {
		v.Smallest = n
	}
	if n.Cells() > v.Largest.Cells() {
		v.Largest = n
	}
	if v.Cases == 1 {
		v.Steps = [2]int{steps, steps}
	}
	v.Steps = [2]int{min(v.Steps[0], steps), max(v.Steps[1], steps)}
	v.MaxError = max(v.MaxError, r.MaxError)
	v.Compared += r.Cells
	v.Blind += r.Blind
	if r.Alike {
		v.Alike++
	}
	if r.Number != nil && !r.Number.Unproved() {
		v.Reduced++
	}
	if e := (errorBound{r.Share * r.Tolerance, r.Tolerance, steps}); v.Cases == 1 || e.Error*v.Nearest.Tolerance > v.Nearest.Error*e.Tolerance {
		v.Nearest = e
	}
}

// again is the command that runs one case alone.
func (f *verifyFlags) again(device string, p stencil.Problem, n int) string {
	c := "tune verify " + quoted(f.Stencil)
	if p.DType != p.Stencil.DType {
		c += " --dtype " + string(p.DType)
	}
	if f.family != "" {
		c += " --family " + f.family
	}
	for _, s := range f.Scalars {
		c += " --scalar " + quoted(s)
	}
	return fmt.Sprintf("%s --device %s --seed %d --case %d", c, quoted(device), f.seed, n)
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func choose(c bool, a, b string) string {
	if c {
		return a
	}
	return b
}

// printVerification prints what was tried.
func (a *app) printVerification(v verification) error {
	if a.JSON {
		return a.PrintJSON(v)
	}
	for _, d := range v.Devices {
		verdict := "all right"
		switch {
		case d.Wrong != "":
			verdict = "the last one wrong"
		case d.Cases == 0:
			verdict = "nothing is proved: no compiler ended in time"
		case len(d.Untaken) > 0:
			verdict = "right, but incomplete: no cell took every branch, or sources changed nothing"
		case !d.Complete:
			verdict = "incomplete: rounding hides every error in most cells"
		}
		fmt.Fprintf(a.Out, "%s in %s on %s (%s): %d cases, %s\n", v.Stencil, d.DType, d.Device, d.Name, d.Cases, verdict)
		line := func(what, format string, args ...any) {
			fmt.Fprintf(a.Out, "  %-10s %s\n", what, fmt.Sprintf(format, args...))
		}
		var families []string
		for _, f := range all.Families() {
			if n := d.Families[f.Name()]; n > 0 {
				families = append(families, fmt.Sprintf("%s %d", f.Name(), n))
			}
		}
		line("schedules", "%s", strings.Join(families, ", "))
		for _, f := range all.Families() {
			if why := d.Unable[f.Name()]; why != "" {
				line("not tried", "%s", why)
			}
		}
		grids := fmt.Sprintf("%s to %s", d.Smallest.Text(v.dims), d.Largest.Text(v.dims))
		for _, k := range verify.Kinds() {
			grids += fmt.Sprintf(", %d with %s", d.Grids[k], k)
		}
		line("grids", "%s", grids)
		for _, f := range slices.Sorted(maps.Keys(d.Untried)) {
			line("untried", "on several tiles %s with %s: more --cases try them", f, strings.Join(d.Untried[f], ", "))
		}
		for _, name := range d.Unbuilt {
			line("unbuilt", "%s: a compiler did not end in time", name)
		}
		line("boundary", "%s", v.Boundary)
		line("steps", "%d to %d, in two to four launches", d.Steps[0], d.Steps[1])
		if n := d.Nearest; d.DType.Floating() {
			share := 0.0
			if n.Tolerance > 0 {
				share = 100 * n.Error / n.Tolerance
			}
			line("error", "%.2g where %.2g is allowed (%.2g %%), in the cell that came nearest to its bound; %.2g %% in the median case; %.2g at most", n.Error, n.Tolerance, share, 100*d.Share, d.MaxError)
		} else {
			line("error", "none is allowed: integers are exact")
		}
		if d.Reduced > 0 {
			line("reduce", "its kernel gives the reference's number on %d more grids", d.Reduced)
		}
		for _, u := range d.Untaken {
			line("untaken", "%s", u)
		}
		for _, f := range d.Faint {
			line("unseen", "%s: it moves an answer by %.2g of the bound", f.Point, f.Share)
		}
		if d.Blind > 0 {
			line("unproved", "%d of %d cells: rounding alone may give nearly any value", d.Blind, d.Compared)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Missing)) {
		fmt.Fprintf(a.Out, "not on %s: %s\n", name, v.Missing[name])
	}
	_, err := fmt.Fprintf(a.Out, "seed %d\n", v.Seed)
	return err
}

// familyNames are the names of the kernel families, for a message.
func familyNames() string {
	var names []string
	for _, f := range all.Families() {
		names = append(names, f.Name())
	}
	return strings.Join(names, ", ")
}
