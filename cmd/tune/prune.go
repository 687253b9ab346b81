package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/timing"
	"stenciltune/tuner"
)

func (a *app) storePrune() *cobra.Command {
	var f storeFilter
	var older time.Duration
	var stale, all, dry bool
	c := &cobra.Command{
		Use: "prune (--stale | --older-than TIME | --all)", Short: "Drop stored configs and their journals", Args: cobra.NoArgs,
		Long: `prune drops configs, with everything measured for them: of kernels whose source has changed
(--stale), or tuned long ago. --older-than and --all also drop what was measured by tunes
that did not come to a config, but for those that run. What it drops can only be had again by measuring; --dry-run
shows it.`,
		Example: "  tune store prune --stale --dry-run\n  tune store prune --older-than 8760h --device a100",
		RunE: func(*cobra.Command, []string) error {
			if !stale && older <= 0 && !all {
				return cli.Usagef("what? choose it with --stale, --older-than or --all")
			}
			store, list, err := a.chosen(&f)
			if err != nil {
				return err
			}
			begun, err := unfinished(store, &f, list)
			if err != nil {
				return err
			}
			file := "" // of a stencil that is not in the catalogue
			if strings.HasSuffix(f.stencil, ".sl") {
				file = f.stencil
			}
			n, unjudged := 0, 0
			for _, s := range list {
				old := older > 0 && time.Since(s.Config.Time) > older
				p, unknown := tuner.ProblemOf(s.Config, file)
				changed := stale && unknown == nil && !new(tuner.Tuner).Current(p, s.Config)
				if !all && !old && !changed {
					if stale && unknown != nil {
						unjudged++
					}
					continue
				}
				n++
				fmt.Fprintf(a.Out, "%s %s %s on %s, tuned %s\n", s.Config.Stencil.Name, s.Key.DType, s.Key.Size, s.Key.DeviceName, s.Config.Time.Format(time.DateOnly))
				if dry {
					continue
				}
				if err := store.ForgetBest(s.Key); err != nil {
					return err
				}
				if err := forgetJournal(store, s.Key.Journal()); err != nil {
					return err
				}
			}
			journals := 0
			for _, r := range begun {
				if !all && !(older > 0 && time.Since(r.last) > older) {
					continue
				}
				journals++
				fmt.Fprintf(a.Out, "%s on %s, not tuned to the end\n", r.run().Name, r.key.DeviceName)
				if dry {
					continue
				}
				if err := store.Forget(r.key.Journal()); err != nil {
					return err
				}
			}
			verb := "dropped"
			if dry {
				verb = "would be dropped"
			}
			if unjudged > 0 {
				a.Say("warning: whether %d are stale is not known, for the catalogue has not their stencils: name the file of one with --stencil", unjudged)
			}
			if journals > 0 {
				a.Say("%d journals of tunes that did not end %s", journals, verb)
			}
			a.Say("%d of %d configs %s", n, len(list), verb)
			return nil
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&stale, "stale", false, "those whose kernel would be generated differently now")
	c.Flags().DurationVar(&older, "older-than", 0, "those tuned longer than this `time` ago, like 720h")
	c.Flags().BoolVar(&all, "all", false, "all that --stencil and --device choose")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only print what would be dropped")
	return c
}

// abandoned is a tune that left a journal and no config, and does not run.
type abandoned struct {
	stored
	last time.Time // that it recorded something
}

// unfinished are the abandoned tunes that a filter keeps, whose journals serve none of some configs.
func unfinished(store *cache.Store, f *storeFilter, configs []cache.Stored) (list []abandoned, err error) {
	keep, err := f.keep()
	if err != nil {
		return nil, err
	}
	tunes, err := (&shelf{store: store, keep: keep}).all()
	if err != nil {
		return nil, err
	}
	serves := map[cache.Key]bool{} // journals that are not to be listed, or are
	for _, c := range configs {
		serves[c.Key.Journal()] = true
	}
	for _, x := range tunes {
		if x.alive() {
			serves[x.key.Journal()] = true
		}
	}
	for _, x := range tunes {
		journal := x.key.Journal()
		if serves[journal] {
			continue
		}
		serves[journal] = true
		entries, err := store.History(journal)
		if err != nil {
			return nil, err
		}
		r := abandoned{stored: x}
		if n := len(entries); n > 0 {
			r.last = entries[n-1].At
		}
		list = append(list, r)
	}
	return list, nil
}

// forgetJournal drops a journal, unless a config by another objective still has use for it.
func forgetJournal(store *cache.Store, journal cache.Key) error {
	for _, o := range timing.Objectives() {
		if _, grade, ok, err := store.Best(journal.For(o)); err != nil || ok && grade == cache.Exact {
			return err
		}
	}
	return store.Forget(journal)
}
