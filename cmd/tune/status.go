package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// underWay is a problem that tunes work on, as `tune status` prints it.
type underWay struct {
	Problem   string           `json:"problem"` // "jacobi3d/f32/512x512x512"
	Device    string           `json:"device"`
	Kind      string           `json:"kind"`
	Objective timing.Objective `json:"objective"`
	Evaluated int              `json:"evaluated"` // of those who share the tune, together
	// Best is the fastest schedule so far; "" = none yet.
	Best           string  `json:"best"`
	SecondsPerStep float64 `json:"seconds_per_step"`
	CellsPerSecond float64 `json:"cells_per_second"`
	LeftSeconds    float64 `json:"left_seconds"` // until the searches end, should they find nothing better; 0 = not known
	Workers        []hand  `json:"workers"`
}

// hand is one tune that works on a problem.
type hand struct {
	Worker       string    `json:"worker"` // "host:process:number"
	Alive        bool      `json:"alive"`  // it was heard of lately
	HeardSeconds float64   `json:"heard_seconds"`
	Shared       bool      `json:"shared"`
	Phase        string    `json:"phase"`
	Trying       string    `json:"trying"`
	Evaluated    int       `json:"evaluated"` // that it knows of
	Begun        time.Time `json:"begun"`
}

func (a *app) status() *cobra.Command {
	var f storeFilter
	c := &cobra.Command{
		Use: "status [--store STORE]", Short: "Show the tunes that run now: who works on what, how far, how long still", Args: cobra.NoArgs,
		Long: `status prints what tunes tell while they run, on every machine that uses the store: the
problem, how many schedules are evaluated, the best so far, when the search is likely to
end should it find nothing better, and the tunes that work on it. One that was not heard
of for its lease was killed, or cannot reach the store. It only reads, and no tune waits
for it. tune serve shows the same in a browser, with the measurements.`,
		Example: "  tune status\n  tune status --store postgres://tune@db.site/tuned --stencil jacobi3d --json",
		RunE: func(*cobra.Command, []string) error {
			store, keep, err := a.filtered(&f)
			if err != nil {
				return err
			}
			told, err := store.Running()
			if err != nil {
				return err
			}
			list := under(told, keep)
			if a.JSON {
				return a.PrintJSON(list)
			}
			if len(list) == 0 {
				a.Say("no tune runs that uses %s", store.Path())
			}
			return a.printUnder(list)
		},
	}
	f.bind(c)
	return a.JSONFlag(c)
}

// under is what runs, by problem and objective, of the keys that are kept.
func under(told map[cache.Key][]cache.Running, keep chooser) []underWay {
	list := []underWay{}
	for journal, all := range told {
		if c := all[0].Config(); !keep(journal, &c) {
			continue
		}
		by := map[timing.Objective][]cache.Running{}
		for _, r := range all {
			if r.Phase != "" { // else it has ended
				o := cmp.Or(r.Objective, timing.ForTime)
				by[o] = append(by[o], r)
			}
		}
		for o, workers := range by {
			list = append(list, together(journal, o, workers))
		}
	}
	slices.SortFunc(list, func(a, b underWay) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Objective, b.Objective))
	})
	return list
}

// together is what the tunes of one problem tell.
func together(k cache.Key, o timing.Objective, workers []cache.Running) underWay {
	u := underWay{Problem: strings.Join([]string{workers[0].Stencil.Name, stencil.DType(k.DType).Short(), k.Size}, "/"), Device: k.DeviceName, Kind: string(k.Kind), Objective: o}
	for _, r := range workers {
		alive := r.Alive()
		u.Workers = append(u.Workers, hand{r.Worker, alive, r.Age.Seconds(), r.Shared, r.Phase, r.Trying, r.Evaluated, r.Begun})
		u.Evaluated = max(u.Evaluated, r.Evaluated)
		if r.BestTime > 0 && (u.Best == "" || r.BestTime < u.SecondsPerStep) {
			u.Best, u.SecondsPerStep = r.Best, r.BestTime
		}
		if alive {
			u.LeftSeconds = max(u.LeftSeconds, r.Left-r.Age.Seconds())
		}
	}
	if u.SecondsPerStep > 0 {
		cells := 1.0
		for _, n := range workers[0].Problem.Size {
			cells *= float64(n)
		}
		u.CellsPerSecond = cells / u.SecondsPerStep
	}
	return u
}

func (a *app) printUnder(list []underWay) error {
	for _, u := range list {
		fmt.Fprintf(a.Out, "%s on %s (%s): %d evaluated", u.Problem, u.Device, u.Kind, u.Evaluated)
		if u.Best != "" {
			fmt.Fprintf(a.Out, ", best %s (%s)", tuner.Rate(u.CellsPerSecond), u.Best)
		}
		if u.LeftSeconds > 0 {
			fmt.Fprintf(a.Out, ", about %.0f s of search left", u.LeftSeconds)
		}
		if u.Objective != timing.ForTime {
			fmt.Fprintf(a.Out, ", by %s", u.Objective)
		}
		fmt.Fprintln(a.Out)
		w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
		for _, h := range u.Workers {
			state := h.Phase
			if !h.Alive {
				state = "not heard of"
			}
			how := "alone"
			if h.Shared {
				how = "shares"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.0f s ago\t%s\n", h.Worker, how, state, h.HeardSeconds, h.Trying)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
