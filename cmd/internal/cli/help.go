package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"stenciltune/cache"
	"stenciltune/device/replay"
	"stenciltune/search"
	"stenciltune/stencil"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// released is when the version was: the date of the man pages.
var released = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// Grades are the grades that an answer can have.
func Grades() []string {
	var names []string
	for g := cache.Exact; g < cache.None; g++ {
		names = append(names, g.String())
	}
	return names
}

// complete teaches the shells the values of flags, on every command that has them.
func complete(root *cobra.Command) {
	values := map[string]func() []string{
		"stencil": stencil.Names,
		"dtype":   func() []string { return []string{"float32", "float64", "float16", "bfloat16"} },
		"objective": func() (list []string) {
			for _, o := range timing.Objectives() {
				list = append(list, string(o))
			}
			return list
		},
		"timing":   func() []string { return []string{"warm", "cold"} },
		"strategy": search.Names,
		"require":  Grades,
		"device": func() []string {
			list := []string{"0", "host"}
			for _, n := range replay.Names() {
				device, _, _ := strings.Cut(n, "_")
				if r := tuner.ReplayPrefix + device; list[len(list)-1] != r {
					list = append(list, r)
				}
			}
			return list
		},
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for name, list := range values {
			if c.Flags().Lookup(name) == nil {
				continue
			}
			directive := cobra.ShellCompDirectiveNoFileComp
			if name == "stencil" { // or a file
				directive = cobra.ShellCompDirectiveDefault
			}
			err := c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return list(), directive })
			if err != nil {
				panic("tune: completion of --" + name + ": " + err.Error())
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// strict makes arguments that a command does not take a fault of usage. cobra's own checks have no exit code, and
// its help and completion end well whatever they are asked for.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		check := c.Args
		switch {
		case c.Name() == "help" && c.Parent() == root:
			check = func(_ *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return Usagef("no help on %q", strings.Join(args, " "))
				}
				return nil
			}
		case !c.Runnable():
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		if check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				err := check(c, args)
				if err != nil && ExitCode(err) == Internal {
					err = Usagef("%w; see %s --help", err, root.Name())
				}
				return err
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// manual writes the man pages.
func (a *App) manual() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the man pages, one a command",
		Example: "  tune man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return tuner.Input(err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true // the same help, the same bytes
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: strings.ToUpper(a.Name), Section: "1", Source: a.Name + " " + tuner.Version, Date: &released}, args[0]); err != nil {
				return tuner.Input(err)
			}
			pages, err := filepath.Glob(filepath.Join(args[0], a.Name+"*.1"))
			if err == nil {
				a.Say("%d pages in %s", len(pages), args[0])
			}
			return err
		},
	}
}
