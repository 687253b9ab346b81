package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/figure"
	"stenciltune/kernels"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
	"stenciltune/timing"
	"stenciltune/tuner"
)

type sweepFlags struct {
	problemFlags
	device, regime, base, heatmap, unit string
	vary                                []string
	families, beyond                    bool
	seed                                uint64
}

func (a *app) sweep() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep --stencil NAME (--schedule SCHEDULE --vary PARAMETER=V,W,... | --families)",
		Short: "Time every combination of some parameters, or every design, side by side",
		Example: `  study sweep --stencil jacobi2d --schedule global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1 --vary cw=0,32,64,128,256,512
  study sweep --stencil jacobi3d --schedule tile/gx=32/gy=4/gz=4/wx=1/wy=1/wz=1/cw=0/zz=0/ph=1 --vary wy=1,2,4,8 --vary wz=1,2,4,8 --heatmap work.svg
  study sweep --stencil matmul --schedule global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1 --vary cw=0,31,32,33 --beyond --unit ms
  study sweep --stencil jacobi3d --families`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runSweep(c.Context(), f) },
	}
	f.Bind(c)
	c.Flags().StringVar(&f.base, "schedule", "", "canonical `text` of the schedule whose parameters are varied")
	c.Flags().StringArrayVar(&f.vary, "vary", nil, "`parameter=values`, separated by commas; repeat it for more parameters")
	c.Flags().BoolVar(&f.families, "families", false, "a good schedule of each kernel design instead")
	c.Flags().BoolVar(&f.beyond, "beyond", false, "also run values and shapes that the search leaves out because they cannot win")
	c.Flags().StringVar(&f.unit, "unit", rate, "`unit` of the table and the heat map: GCells/s, or ms a time step")
	c.Flags().StringVar(&f.heatmap, "heatmap", "", "draw two varied parameters as a heat map into `file` (.svg)")
	c.Flags().StringVar(&f.device, "device", "", "`device`, as for tune itself")
	c.Flags().StringVar(&f.regime, "timing", string(timing.Warm), "cache `regime`: warm or cold")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the input data")
	return a.JSONFlag(c)
}

// check refuses flags that do not go together.
func (f *sweepFlags) check() error {
	switch {
	case f.families && (f.base != "" || len(f.vary) > 0 || f.heatmap != "" || f.beyond):
		return cli.Usagef("--families has its own schedules: leave out --schedule, --vary, --beyond and --heatmap")
	case !f.families && (f.base == "" || len(f.vary) == 0):
		return cli.Usagef("what shall be varied? give --schedule and --vary, or --families")
	case f.heatmap != "" && len(f.vary) != 2:
		return cli.Usagef("--heatmap needs two varied parameters, its rows and its columns; there are %d", len(f.vary))
	case f.unit != rate && f.unit != milliseconds:
		return cli.Usagef("--unit %q: use %s or %s", f.unit, rate, milliseconds)
	}
	return nil
}

// Units in which a sweep is shown.
const (
	rate         = "GCells/s"
	milliseconds = "ms"
)

// maxSweep bounds a sweep: all of its kernels are loaded at once.
const maxSweep = 1024

// point is one schedule of a sweep.
type point struct {
	label    string // of a design
	schedule space.Schedule
	rejected *space.Rejection // why it does not exist, or nil
	outcome  tuner.Outcome    // if it does
}

// pointInfo is a point as `study sweep --json` prints it.
type pointInfo struct {
	Design         string         `json:"design,omitempty"`
	Schedule       space.Schedule `json:"schedule"`
	Status         timing.Status  `json:"status"`
	Constraint     string         `json:"constraint,omitempty"`
	Reason         string         `json:"reason,omitempty"`
	SecondsPerStep float64        `json:"seconds_per_step,omitempty"`
	CellsPerSecond float64        `json:"cells_per_second,omitempty"`
}

func (a *app) runSweep(ctx context.Context, f sweepFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := f.on(f.device)
	if err != nil {
		return err
	}
	regime, err := cli.ParseRegime(f.regime)
	if err != nil {
		return err
	}
	if f.families && matmul.Is(p) {
		return cli.Usagef("--families: there are no example schedules of %s; give --schedule and --vary", matmul.Name)
	}
	var axes []axis
	points := designs(p.Stencil.Dims)
	if !f.families { // early, before a device is opened
		if axes, points, err = combinations(f.base, f.vary, kernels.Spaces(familiesOf(p), p, tuner.AnyGPU(f.base))); err != nil {
			return err
		}
	}
	t, err := a.tuner(p)
	if err != nil {
		return err
	}
	if f.beyond {
		t.Families = widened(familiesOf(p), points[0].schedule.Family(), axes)
	}
	m, err := timePoints(ctx, t, p, f, regime, points)
	if err != nil {
		return err
	}
	if f.heatmap != "" {
		svg, err := figure.SVG(heatmap(fmt.Sprintf("%s, %s, %s", p.Text(), m.Name, f.unit), axes[0], axes[1], cellsOf(p, points, f.unit)))
		if err != nil {
			return err
		}
		if err := cache.WriteFile(f.heatmap, svg); err != nil {
			return err
		}
	}
	if a.JSON {
		var list []pointInfo
		for i := range points {
			list = append(list, points[i].info(p))
		}
		err = a.PrintJSON(list)
	} else {
		err = a.printSweep(p, m, f.unit, axes, points)
	}
	if err != nil {
		return err
	}
	return a.failures(points)
}

// failures warns of doubtful times, and is the error of schedules that were run and
// failed; to be illegal, or to lack in a recording, is a failure only if all do.
func (a *app) failures(points []point) error {
	failed, timed := 0, 0
	for i := range points {
		o := points[i].outcome
		for _, w := range o.Series.Warnings {
			a.Say("warning: %s: %s", o.Schedule, w)
		}
		if o.Status.Timed() {
			timed++
		}
		if o.Status.Failed() && o.Status != timing.Rejected {
			a.Say("%s: %s: %s", o.Schedule, o.Status, o.Reason)
			failed++
		}
	}
	if failed > 0 {
		return cli.NoAnswerf("%d of %d schedules failed", failed, len(points))
	}
	if timed == 0 {
		return cli.NoAnswerf("none of %d schedules has a time: of a recording choose such as it holds", len(points))
	}
	return nil
}

// timePoints fills in the outcome of every point that is legal on the device.
func timePoints(ctx context.Context, t *tuner.Tuner, p stencil.Problem, f sweepFlags, regime timing.Regime, points []point) (machine.Machine, error) {
	d, err := tuner.OpenDevice(ctx, f.device, p)
	if err != nil {
		return machine.Machine{}, err
	}
	defer d.Close()
	m := d.Machine()
	var legal []int
	outcomes, err := t.Measure(ctx, p, d, tuner.Options{Regime: regime, Seed: f.seed}, func(sp *space.Space) ([]space.Schedule, error) {
		var list []space.Schedule
		for i := range points {
			if err := sp.Check(points[i].schedule); err != nil {
				r, ok := err.(*space.Rejection)
				if !ok {
					return nil, err
				}
				points[i].rejected = r
				continue
			}
			legal = append(legal, i)
			list = append(list, points[i].schedule)
		}
		if len(list) == 0 {
			return nil, points[0].rejected
		}
		return list, nil
	})
	if err != nil {
		return m, err
	}
	for i, o := range outcomes {
		points[legal[i]].outcome = o
	}
	return m, nil
}

// info is the point for a program to read.
func (q *point) info(p stencil.Problem) pointInfo {
	if q.rejected != nil {
		return pointInfo{Design: q.label, Schedule: q.schedule, Status: timing.Rejected, Constraint: q.rejected.Constraint, Reason: q.rejected.Why}
	}
	i := pointInfo{Design: q.label, Schedule: q.schedule, Status: q.outcome.Status, Reason: q.outcome.Reason}
	if s := q.outcome.Seconds(); s > 0 {
		i.SecondsPerStep, i.CellsPerSecond = s, float64(p.Size.Cells())/s
	}
	return i
}

// wide is a family whose space has more values.
type wide struct {
	kernels.Family
	values map[string][]int
}

// Space is the family's with the values.
func (w wide) Space(p stencil.Problem, m machine.Machine) *space.Family {
	return space.New(w.Family.Space(p, m)).Widen(w.Name(), w.values).Family(w.Name())
}

// widened are families of which one also has the values of the axes.
func widened(families []kernels.Family, name string, axes []axis) []kernels.Family {
	values := map[string][]int{}
	for _, ax := range axes {
		values[ax.name] = ax.values
	}
	families = slices.Clone(families)
	for i, f := range families {
		if f.Name() == name {
			families[i] = wide{f, values}
		}
	}
	return families
}

// axis is one varied parameter.
type axis struct {
	name   string
	values []int
}

// texts are the values, as a picture names them.
func (a axis) texts() []string {
	list := make([]string, len(a.values))
	for i, v := range a.values {
		list[i] = strconv.Itoa(v)
	}
	return list
}

// combinations are the schedules that differ from base in the varied parameters,
// the last of them fastest. They may be illegal.
func combinations(base string, vary []string, sp *space.Space) ([]axis, []point, error) {
	s, err := space.ParseSchedule(base)
	if err != nil {
		return nil, nil, tuner.Input(err)
	}
	f := sp.Family(s.Family())
	if f == nil {
		return nil, nil, sp.Check(s)
	}
	values, err := f.Values(s)
	if err != nil {
		return nil, nil, err
	}
	var axes []axis
	var at []int // position of each axis among the parameters
	total := 1
	for _, text := range vary {
		ax, err := parseAxis(text)
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(f.Params, func(q space.Param) bool { return q.Name == ax.name })
		if i < 0 {
			return nil, nil, cli.Usagef("--vary %s: family %s has no parameter %s", text, f.Name, ax.name)
		}
		if slices.Contains(at, i) {
			return nil, nil, cli.Usagef("--vary %s: %s is varied twice", text, ax.name)
		}
		axes, at = append(axes, ax), append(at, i)
		if total *= len(ax.values); total > maxSweep {
			return nil, nil, cli.Usagef("--vary: more than %d combinations", maxSweep)
		}
	}
	var points []point
	for n := range total {
		v := slices.Clone(values)
		for k, rest := len(axes)-1, n; k >= 0; k-- {
			v[at[k]] = axes[k].values[rest%len(axes[k].values)]
			rest /= len(axes[k].values)
		}
		points = append(points, point{schedule: space.Make(f.Name, f.Params, v)})
	}
	return axes, points, nil
}

// parseAxis reads a parameter and its values.
func parseAxis(text string) (axis, error) {
	name, list, ok := strings.Cut(text, "=")
	ax := axis{name: name}
	for v := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(v)
		if !ok || name == "" || err != nil || n < 0 || n > 999999999 || slices.Contains(ax.values, n) {
			return ax, cli.Usagef("--vary %.80q: write it as parameter=values, each once, like cw=0,32,64", text)
		}
		ax.values = append(ax.values, n)
	}
	return ax, nil
}

// shown is a point as a table or a heat map shows it: a number, or why there is none.
type shown struct {
	rate float64 // cells per second, 0 if there is none
	text string
}

func cellsOf(p stencil.Problem, points []point, unit string) []shown {
	cells := make([]shown, len(points))
	for i := range points {
		d := points[i].info(p)
		switch {
		case d.CellsPerSecond > 0 && unit == milliseconds:
			cells[i] = shown{d.CellsPerSecond, fmt.Sprintf("%.4g", d.SecondsPerStep*1e3)}
		case d.CellsPerSecond > 0:
			cells[i] = shown{d.CellsPerSecond, fmt.Sprintf("%.1f", d.CellsPerSecond/1e9)}
		case d.Constraint != "":
			cells[i].text = d.Constraint
		default:
			cells[i].text = string(d.Status)
		}
	}
	return cells
}

func (c shown) String() string {
	if c.rate > 0 {
		return c.text
	}
	return "(" + c.text + ")"
}

// heatmap has a row for each value of one axis and a column for each of the other. What has no
// rate says why.
func heatmap(title string, rows, columns axis, cells []shown) figure.Grid {
	g := figure.Grid{Title: title, X: columns.name, Y: rows.name, Columns: columns.texts(), Rows: rows.texts()}
	for _, c := range cells {
		value := c.rate
		if value == 0 {
			value = math.NaN()
		}
		g.Cells = append(g.Cells, figure.Cell{Value: value, Text: c.text})
	}
	return g
}

// best is the index of the highest rate, -1 if there is none.
func best(cells []shown) int {
	b := -1
	for i, c := range cells {
		if c.rate > 0 && (b < 0 || c.rate > cells[b].rate) {
			b = i
		}
	}
	return b
}

// printSweep prints the rates: two varied parameters as rows and columns, anything
// else as a list, and then why points are missing.
func (a *app) printSweep(p stencil.Problem, m machine.Machine, unit string, axes []axis, points []point) error {
	fmt.Fprintf(a.Out, "%s on %s, %s\n", p.Text(), m.Name, unit)
	cells := cellsOf(p, points, unit)
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	if len(axes) == 2 {
		fmt.Fprintf(w, "%s \\ %s", axes[0].name, axes[1].name)
		for _, v := range axes[1].values {
			fmt.Fprintf(w, "\t%d", v)
		}
		fmt.Fprintln(w)
		for i, v := range axes[0].values {
			fmt.Fprint(w, v)
			for j := range axes[1].values {
				fmt.Fprintf(w, "\t%s", cells[i*len(axes[1].values)+j])
			}
			fmt.Fprintln(w)
		}
	} else {
		for i, c := range cells {
			name := ""
			for k, rest := len(axes)-1, i; k >= 0; k-- {
				n := len(axes[k].values)
				name = fmt.Sprintf("%s=%d ", axes[k].name, axes[k].values[rest%n]) + name
				rest /= n
			}
			if len(axes) == 0 {
				name = points[i].label
			}
			fmt.Fprintf(w, "%s\t%s", strings.TrimSpace(name), c)
			if len(axes) == 0 {
				fmt.Fprintf(w, "\t%s", points[i].schedule)
			}
			fmt.Fprintln(w)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if b := best(cells); b >= 0 {
		fmt.Fprintf(a.Out, "best: %s %s\n", points[b].schedule, cells[b].text)
	}
	return a.explain(points)
}

// explain prints each reason for a missing point once.
func (a *app) explain(points []point) error {
	seen := map[string]bool{}
	for i := range points {
		q := &points[i]
		name, why := string(q.outcome.Status), q.outcome.Reason
		if q.rejected != nil {
			name, why = q.rejected.Constraint, q.rejected.Why
		} else if q.outcome.Status.Timed() {
			continue
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, err := fmt.Fprintf(a.Out, "(%s): %s\n", name, why); err != nil {
			return err
		}
	}
	return nil
}
