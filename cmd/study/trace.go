package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/study/matmul"
	"stenciltune/study/trace"
	"stenciltune/tuner"
)

type traceFlags struct {
	problemFlags
	walk, schedule   string
	l1, l2           string
	policy, grain    string
	svgFile, pngFile string
	seed             uint64
}

func (a *app) trace() *cobra.Command {
	var f traceFlags
	c := &cobra.Command{
		Use:   "trace --stencil NAME (--walk WALK | --schedule SCHEDULE)",
		Short: "Simulate what a schedule's loads find in caches, and draw it",
		Long: `trace simulates the order of a launch's loads, not its time: one thread after the
other (or one warp, its lanes in lockstep, or one block, its warps taking turns), on
one SM that holds one block at a time. Stores are left out.`,
		Example: `  study trace --stencil docs/trace/box7.sl --size 16x16 --walk columns=8 --l1 24x16 --svg columns.svg
  study trace --stencil box9 --size 512x512 --by warp --l1 1024x128x4 --l2 16384x128x16 \
    --schedule global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=64/zz=0/sp=1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runTrace(c.Context(), f) },
	}
	f.Bind(c)
	c.Flags().StringVar(&f.walk, "walk", "", "`order` in which the grid is walked, a thread a cell: rows, columns=8, zigzag=8 or tiles=8x8")
	c.Flags().StringVar(&f.schedule, "schedule", "", "canonical `text` of a schedule of family global or tile instead")
	c.Flags().StringVar(&f.l1, "l1", "1024x128x4", "first level as `LINESxBYTES[xWAYS]`, fully associative without WAYS")
	c.Flags().StringVar(&f.l2, "l2", "", "second `level`, none by default")
	c.Flags().StringVar(&f.policy, "policy", string(trace.LRU), "`which` line a full set gives up: lru, or random (4 at once, as Volta and Turing do)")
	c.Flags().StringVar(&f.grain, "by", string(trace.Threads), "`what` runs before anything else does: thread, warp or block")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the random policy")
	c.Flags().StringVar(&f.svgFile, "svg", "", "draw the diagram into `file`")
	c.Flags().StringVar(&f.pngFile, "png", "", "the same without words, into `file`")
	return a.JSONFlag(c)
}

// traceInfo is a simulation as `study trace --json` prints it.
type traceInfo struct {
	Problem  string         `json:"problem"`
	Walk     string         `json:"walk,omitempty"`
	Schedule space.Schedule `json:"schedule"`
	By       trace.Grain    `json:"by"`
	Policy   trace.Policy   `json:"policy"`
	Levels   []string       `json:"levels"`
	trace.Counts
}

func (a *app) runTrace(ctx context.Context, f traceFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	p, err := f.on("host") // the smaller default size: every load is simulated
	if err != nil {
		return err
	}
	s, err := f.order(p)
	if err != nil {
		return err
	}
	stream, err := streamOf(p, s)
	if err != nil {
		return err
	}
	counts, diagram, err := trace.Simulate(ctx, stream, o)
	if err != nil {
		return simulationError(ctx, err)
	}
	info := traceInfo{Problem: p.Text(), Walk: f.walk, Schedule: s, By: o.Grain, Policy: o.Policy, Counts: counts}
	for _, l := range o.Levels {
		info.Levels = append(info.Levels, l.String())
	}
	if err := f.draw(diagram, info.title()); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(info)
	}
	return a.printTrace(info)
}

// simulationError is the user's fault unless the user stopped it.
func simulationError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return tuner.Input(err)
}

// options reads the flags that choose the caches.
func (f *traceFlags) options() (trace.Options, error) {
	o := trace.Options{Seed: f.seed, Draw: f.svgFile != "" || f.pngFile != ""}
	levels := []string{f.l1}
	if f.l2 != "" {
		levels = append(levels, f.l2)
	}
	for _, text := range levels {
		l, err := trace.ParseCache(text)
		if err != nil {
			return o, tuner.Input(err)
		}
		o.Levels = append(o.Levels, l)
	}
	var err error
	if o.Policy, err = trace.ParsePolicy(f.policy); err != nil {
		return o, cli.Usagef("--policy: %w", err)
	}
	if o.Grain, err = trace.ParseGrain(f.grain); err != nil {
		return o, cli.Usagef("--by %w", err)
	}
	return o, nil
}

// order is the schedule whose loads are simulated. A walk's needs not be legal.
func (f *traceFlags) order(p stencil.Problem) (space.Schedule, error) {
	switch {
	case (f.walk == "") == (f.schedule == ""):
		return space.Schedule{}, cli.Usagef("which order? give --walk or --schedule, one of them")
	case f.walk != "":
		s, err := trace.ParseWalk(f.walk, p.Stencil.Dims)
		if err != nil {
			return s, tuner.Input(err)
		}
		return s, nil
	}
	return tuner.ParseSchedule(f.schedule, kernels.Spaces(familiesOf(p), p, tuner.AnyGPU(f.schedule)))
}

// streamOf is the loads of one launch of a schedule.
func streamOf(p stencil.Problem, s space.Schedule) (trace.Stream, error) {
	family := kernels.Find(familiesOf(p), s.Family())
	l, ok := family.(kernels.Loader)
	if !ok {
		return trace.Stream{}, cli.Usagef("family %s does not describe its loads; global and tile do", s.Family())
	}
	loads, err := l.Loads(p, s)
	if err != nil {
		return trace.Stream{}, cli.Usagef("%s: %w", s, err)
	}
	arrays := []trace.Array{{Name: "in", Elements: p.Size.Cells()}}
	if matmul.Is(p) {
		arrays = []trace.Array{{Name: "A", Elements: p.Size.Cells()}, {Name: "B", Elements: p.Size.Cells()}}
	}
	return trace.Stream{Arrays: arrays, ElementBytes: p.DType.Size(), Launch: family.Kernel(p, s).Launch, Loads: loads}, nil
}

// draw writes the files asked for.
func (f *traceFlags) draw(d *trace.Diagram, title string) error {
	if f.svgFile != "" {
		if err := cache.WriteFile(f.svgFile, []byte(d.SVG(title))); err != nil {
			return err
		}
	}
	if f.pngFile == "" {
		return nil
	}
	image, err := d.PNG()
	if err != nil {
		return err
	}
	return cache.WriteFile(f.pngFile, image)
}

// order is the walk, or the schedule.
func (i traceInfo) order() string {
	if i.Walk != "" {
		return i.Walk
	}
	return i.Schedule.String()
}

func (i traceInfo) title() string {
	return fmt.Sprintf("%s, %s: %d lines fetched", i.Problem, i.order(), i.Fetches)
}

// printTrace prints the counts for a reader.
func (a *app) printTrace(i traceInfo) error {
	fmt.Fprintf(a.Out, "%s, %s\n%d %ss, one after the other; replacement %s\n", i.Problem, i.order(), i.Steps, i.By, i.Policy)
	for n, l := range i.Levels {
		fmt.Fprintf(a.Out, "L%d: %s\n", n+1, l)
	}
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', tabwriter.AlignRight)
	row := func(name string, n int64, note string) {
		fmt.Fprintf(w, "%d\t %s%s\n", n, name, note)
	}
	share := func(n int64) string { return fmt.Sprintf(", %.1f %%", 100*float64(n)/float64(max(i.Requests, 1))) }
	row("lines asked for", i.Requests, "")
	for n, h := range i.Hits {
		row(fmt.Sprintf("found in L%d", n+1), h, share(h))
	}
	row("fetched from memory", i.Fetches, share(i.Fetches)+fmt.Sprintf("; %d at least, as many as are touched", i.Compulsory))
	return w.Flush()
}
