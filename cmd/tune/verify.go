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
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

type verifyFlags struct {
	cli.ProblemFlags
	devices []string
	cases   int
	only    int
	seed    uint64
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE.sl|NAME",
		Short: "Prove kernels of random schedules on random grids against the reference",
		Long: `Draws random legal schedules of every kernel family and random small grids, runs
the kernels and compares every cell with the float64 reference: on the host, and on
the first GPU if there is one. Says what was tried and how far off the worst cell was.
Stops at the first wrong answer, says how to run that case again, and ends with code 3.`,
		Example: "  tune verify Hotspot.sl\n  tune verify srad2 --device 0 --cases 500 --seed 7\n  tune verify Hotspot.sl --scalar Rx=0.5 --dtype float64",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("verify which stencil? name one file or one of %s", strings.Join(stencil.Names(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Stencil = args[0]
			return a.runVerify(c.Context(), f)
		},
	}
	f.BindCell(c)
	c.Flags().StringArrayVar(&f.devices, "device", nil, "`device`: host or a GPU; repeat it for several (default: host, and the first GPU if there is one)")
	c.Flags().IntVar(&f.cases, "cases", 100, "`n` random schedules on each device")
	c.Flags().IntVar(&f.only, "case", 0, "only the `n`th of them")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the schedules, grids and input data")
	return a.JSONFlag(c)
}

// verification is what `tune verify --json` prints.
type verification struct {
	Stencil  string             `json:"stencil"`
	Hash     string             `json:"hash"`
	DType    stencil.DType      `json:"dtype"`
	Boundary stencil.Boundary   `json:"boundary"`
	Scalars  map[string]float64 `json:"scalars,omitempty"`
	Seed     uint64             `json:"seed"`
	dims     int
	Devices  []deviceProof     `json:"devices"`
	Missing  map[string]string `json:"missing,omitempty"` // devices that are not here, and why
}

// deviceProof is what was tried on a device.
type deviceProof struct {
	Device   string              `json:"device"`
	Name     string              `json:"name"`
	Kind     machine.Kind        `json:"kind"`
	Cases    int                 `json:"cases"`
	Families map[string]int      `json:"families"`           // cases of each
	Unable   map[string]string   `json:"unable,omitempty"`   // families that cannot run the stencil, and why
	Grids    map[verify.Kind]int `json:"grids"`              // cases of each kind
	Smallest stencil.Size        `json:"smallest,omitempty"` // grid, by cells
	Largest  stencil.Size        `json:"largest,omitempty"`
	Steps    [2]int              `json:"steps"` // of a case: fewest, most
	MaxError float64             `json:"max_error"`
	Nearest  errorBound          `json:"nearest"` // of the case whose error came nearest to its tolerance
	Loosest  errorBound          `json:"loosest"` // of the case with the largest tolerance
	Wrong    string              `json:"wrong,omitempty"`
	Again    string              `json:"again,omitempty"` // the command that runs the wrong case alone
}

// errorBound is the largest error of a case, and the largest that rounding may cause.
type errorBound struct {
	Error     float64 `json:"error"`
	Tolerance float64 `json:"tolerance"`
	Steps     int     `json:"steps"`
}

// loose is a tolerance that hides wrong answers: input is of the order of 1.
const loose = 1

func (a *app) runVerify(ctx context.Context, f verifyFlags) error {
	p, err := f.On("host")
	switch {
	case err != nil:
		return err
	case f.cases < 1 || f.cases > 1e6:
		return cli.Usagef("--cases %d: from 1 to 1000000", f.cases)
	case f.only < 0:
		return cli.Usagef("--case %d: the cases are numbered from 1", f.only)
	}
	for _, name := range f.devices {
		if strings.HasPrefix(name, "replay") {
			return cli.Usagef("--device %s: a recording computes nothing; use host or a GPU", name)
		}
	}
	v := verification{Stencil: p.Stencil.Name, Hash: p.Stencil.Hash, DType: p.DType, Boundary: p.Stencil.Boundary, Scalars: tuner.Scalars(p), Seed: f.seed, dims: p.Stencil.Dims}
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
		proof, err := a.prove(ctx, d, name, p, f)
		d.Close()
		if proof.Cases > 0 || err == nil {
			v.Devices = append(v.Devices, proof)
		}
		if errors.Is(err, context.Canceled) {
			a.Say("interrupted after %d cases on %s", proof.Cases, name)
			err = cli.Silent(cli.Interrupted)
		}
		if err != nil {
			return errors.Join(a.printVerification(v), err)
		}
	}
	if len(v.Devices) == 0 {
		return errors.Join(missing...)
	}
	return a.printVerification(v)
}

// prove runs the cases on a device, up to the first wrong one.
func (a *app) prove(ctx context.Context, d device.Device, name string, p stencil.Problem, f verifyFlags) (deviceProof, error) {
	m := d.Machine()
	proof := deviceProof{Device: name, Name: m.Name, Kind: m.Kind, Families: map[string]int{}, Unable: map[string]string{}, Grids: map[verify.Kind]int{}}
	source := verify.NewSource(m, all.Families())
	_, unable := source.Able(p)
	for _, f := range unable {
		proof.Unable[f.Name()] = source.Why(p, f)
	}
	first, n := 0, f.cases
	if f.only > 0 {
		first, n = f.only-1, 1
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
	a.Say("%s on %s: %d cases", p.Stencil.Name, name, n)
	var wrong error
	err = verify.Run(ctx, d, cases, func(c verify.Case, r verify.Result) bool {
		proof.count(c, r)
		fault := r.Fault(c)
		if a.Verbose {
			a.Say("%d %s, %d steps: %s", first+proof.Cases, c.Name(), c.Steps(), choose(fault == "", fmt.Sprintf("error %.2g of %.2g", r.MaxError, r.Tolerance), fault))
		}
		if fault != "" {
			proof.Wrong, proof.Again = c.Name()+": "+fault, f.again(name, first+proof.Cases)
			wrong = cli.NoAnswerf("%s; run it again with: %s", proof.Wrong, proof.Again)
		}
		return wrong == nil
	})
	return proof, errors.Join(err, wrong)
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
	e := errorBound{r.MaxError, r.Tolerance, steps}
	if v.Cases == 1 || e.Error*v.Nearest.Tolerance > v.Nearest.Error*e.Tolerance {
		v.Nearest = e
	}
	if e.Tolerance > v.Loosest.Tolerance {
		v.Loosest = e
	}
}

// again is the command that runs one case alone.
func (f *verifyFlags) again(device string, n int) string {
	c := "tune verify " + quoted(f.Stencil)
	if f.DType != "" {
		c += " --dtype " + f.DType
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
		if d.Wrong != "" {
			verdict = "the last one wrong"
		}
		fmt.Fprintf(a.Out, "%s in %s on %s (%s): %d cases, %s\n", v.Stencil, v.DType, d.Device, d.Name, d.Cases, verdict)
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
		line("boundary", "%s", v.Boundary)
		line("steps", "%d to %d, in two to four launches", d.Steps[0], d.Steps[1])
		if v.DType.Floating() {
			n := d.Nearest
			line("error", "%.2g where %.2g is allowed (%.2g %%), in the case that came nearest to its tolerance; %.2g at most", n.Error, n.Tolerance, 100*n.Error/n.Tolerance, d.MaxError)
			if l := d.Loosest; l.Tolerance > loose {
				a.Say("warning: rounding alone may cause an error of %.2g in %d steps of %s, so that little is proved: keep its values bounded with --scalar, or with InputRange in the file", l.Tolerance, l.Steps, v.Stencil)
			}
		} else {
			line("error", "none is allowed: integers are exact")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Missing)) {
		fmt.Fprintf(a.Out, "not on %s: %s\n", name, v.Missing[name])
	}
	_, err := fmt.Fprintf(a.Out, "seed %d\n", v.Seed)
	return err
}
