package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/machine"
	"stenciltune/timing"
	"stenciltune/tuner"
)

// storeFilter chooses records of a store.
type storeFilter struct{ stencil, device string }

func (f *storeFilter) bind(c *cobra.Command) {
	c.Flags().StringVar(&f.stencil, "stencil", "", "only of this stencil: its `name`, or the beginning of its hash")
	c.Flags().StringVar(&f.device, "device", "", "only of this device: its `name`, or a part of it")
}

// chooser tells whether a key is chosen. Its config, nil if there is none, has the scalars that the
// hash in the key is of.
type chooser func(cache.Key, *cache.Config) bool

// keep chooses keys. A stencil's name is looked up: keys hold hashes.
func (f *storeFilter) keep() (chooser, error) {
	of := func(k cache.Key, _ *cache.Config) bool { return strings.HasPrefix(k.StencilHash, f.stencil) }
	if f.stencil != "" && (len(f.stencil) < 8 || strings.Trim(f.stencil, "0123456789abcdef") != "") {
		st, err := tuner.LoadStencil(f.stencil)
		if err != nil {
			return nil, err
		}
		of = func(k cache.Key, c *cache.Config) bool {
			return k.StencilHash == st.Hash || c != nil && tuner.IsOf(*c, st)
		}
	}
	slug := machine.Machine{Name: f.device}.Slug()
	return func(k cache.Key, c *cache.Config) bool {
		return strings.Contains(machine.Machine{Name: k.DeviceName}.Slug(), slug) && of(k, c)
	}, nil
}

func (a *app) storeTools() *cobra.Command {
	c := &cobra.Command{
		Use:   "store",
		Short: "List, move, merge, prune and check what is stored",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.storeList(), a.storeShow(), a.storeExport(), a.storeImport(), a.storeMerge(), a.storePrune(), a.storeCheck(), a.storeDiff())
	return c
}

// storedInfo is a config as `tune store list` prints it.
type storedInfo struct {
	Stencil        string    `json:"stencil"`
	DType          string    `json:"dtype"`
	Size           string    `json:"size"`
	Steps          string    `json:"steps"`
	Regime         string    `json:"regime"`
	Kind           string    `json:"kind"`
	Device         string    `json:"device"`
	Driver         string    `json:"driver"`
	Compiler       string    `json:"compiler"`
	Schedule       string    `json:"schedule"`
	SecondsPerStep float64   `json:"seconds_per_step"`
	CellsPerSecond float64   `json:"cells_per_second"`
	Time           time.Time `json:"time"`
	Key            string    `json:"key"`

	Objective timing.Objective `json:"objective"`
}

func infoOf(s cache.Stored) storedInfo {
	k, c := s.Key, s.Config
	return storedInfo{c.Stencil.Name, k.DType, k.Size, k.StepsClass, k.Regime, string(k.Kind), k.DeviceName, k.Driver, k.Compiler,
		c.Schedule.Text, c.Measured.SecondsPerStep, c.Measured.CellsPerSecond, c.Time, k.String(), cmp.Or(k.Objective, timing.ForTime)}
}

// readStore opens the store, which need not exist, for reading what it holds.
func (a *app) readStore() (*cache.Store, error) {
	a.Contents = true
	t, err := a.Tuner()
	if err != nil {
		return nil, err
	}
	return t.Store(), nil
}

// openStore opens the store for writing too.
func (a *app) openStore() (*cache.Store, error) {
	s, err := a.readStore()
	if err != nil {
		return nil, err
	}
	return s, s.Writable()
}

// filtered is the store, opened for reading, and what a filter keeps of it.
func (a *app) filtered(f *storeFilter) (store *cache.Store, keep chooser, err error) {
	if keep, err = f.keep(); err == nil {
		store, err = a.readStore()
	}
	return store, keep, err
}

// chosen are the stored configs that a filter keeps.
func (a *app) chosen(f *storeFilter) (*cache.Store, []cache.Stored, error) {
	store, keep, err := a.filtered(f)
	if err != nil {
		return nil, nil, err
	}
	all, err := store.Bests()
	if err != nil {
		return nil, nil, err
	}
	var list []cache.Stored
	for _, s := range all {
		if keep(s.Key, &s.Config) {
			list = append(list, s)
		}
	}
	return store, list, nil
}

func (a *app) storeList() *cobra.Command {
	var f storeFilter
	c := &cobra.Command{
		Use: "list", Short: "List the stored configs", Args: cobra.NoArgs,
		Example: "  tune store list\n  tune store list --stencil jacobi3d --json",
		RunE: func(*cobra.Command, []string) error {
			_, list, err := a.chosen(&f)
			if err != nil {
				return err
			}
			infos := []storedInfo{}
			for _, s := range list {
				infos = append(infos, infoOf(s))
			}
			if a.JSON {
				return a.PrintJSON(infos)
			}
			w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "stencil\tdtype\tsize\tsteps\tobjective\tdevice\tkind\tdriver\trate\ttuned\tschedule")
			for _, i := range infos {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i.Stencil, i.DType, i.Size, i.Steps, i.Objective, i.Device, i.Kind, cmp.Or(i.Driver, "none"),
					tuner.Rate(i.CellsPerSecond), i.Time.Format(time.DateOnly), i.Schedule)
			}
			return w.Flush()
		},
	}
	f.bind(c)
	return a.JSONFlag(c)
}

func (a *app) storeShow() *cobra.Command {
	var f storeFilter
	c := &cobra.Command{
		Use: "show", Short: "Print stored configs, one document after the other", Args: cobra.NoArgs,
		Example: "  tune store show --stencil jacobi3d --device h200",
		RunE: func(*cobra.Command, []string) error {
			_, list, err := a.chosen(&f)
			if err != nil {
				return err
			}
			for _, s := range list {
				if err := a.EmitConfig(s.Config, ""); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.bind(c)
	return c
}

func (a *app) storeExport() *cobra.Command {
	var f storeFilter
	var journal bool
	var output string
	c := &cobra.Command{
		Use: "export", Short: "Write what is stored as JSON lines", Args: cobra.NoArgs,
		Example: "  tune store export -o tuned.jsonl\n  tune store export --journal --device h200 | gzip > h200.jsonl.gz",
		RunE: func(*cobra.Command, []string) error {
			store, list, err := a.chosen(&f)
			if err != nil {
				return err
			}
			keep, err := f.keep()
			if err != nil {
				return err
			}
			keys := map[cache.Key]bool{} // of configs, and of their journals
			for _, s := range list {
				keys[s.Key], keys[s.Key.Journal()] = true, true
			}
			of := func(k cache.Key) bool { return keys[k] || keep(k, nil) }
			if output == "" {
				return store.Export(a.Out, journal, of)
			}
			var b bytes.Buffer
			if err := store.Export(&b, journal, of); err != nil {
				return err
			}
			return cache.WriteFile(output, b.Bytes())
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&journal, "journal", false, "also every schedule that was tried, with its samples")
	c.Flags().StringVarP(&output, "output", "o", "", "write to `file`, only if it changed (default: stdout)")
	return c
}

// legal refuses a config from elsewhere whose schedule does not exist or whose launch is
// another's. That of a stencil which is not in the catalogue cannot be judged here: it is
// when it is used.
func legal(c cache.Config) error {
	p, err := tuner.ProblemOf(c, "")
	if err != nil {
		return nil
	}
	return new(tuner.Tuner).Follows(c, p)
}

// shownRefused is how many refused lines are told one by one.
const shownRefused = 10

// reportImport tells what an import did; refused lines are warned of.
func (a *app) reportImport(done cache.Imported) error {
	for i, r := range done.Refused {
		if i == shownRefused {
			a.Say("warning: and %d more", len(done.Refused)-i)
			break
		}
		a.Say("warning: %s", r)
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	a.Say("%d configs and %d journal entries taken, %d no better than what is stored, %d refused", done.Configs, done.Entries, done.Kept, len(done.Refused))
	return nil
}

// takeIn imports one after the other and tells in the end what came of them, also of those before one that fails.
func (a *app) takeIn(names []string, one func(name string) (cache.Imported, error)) error {
	var all cache.Imported
	var failed error
	for i, name := range names {
		done, err := one(name)
		if err != nil && i == 0 {
			return err
		}
		if failed = err; failed != nil {
			break
		}
		all.Configs, all.Entries, all.Kept = all.Configs+done.Configs, all.Entries+done.Entries, all.Kept+done.Kept
		for _, r := range done.Refused {
			all.Refused = append(all.Refused, name+": "+r)
		}
	}
	if err := a.reportImport(all); err != nil {
		return err
	}
	if n := len(all.Refused); n > 0 && failed == nil {
		return cli.Usagef("%d refused, the first of them %s", n, all.Refused[0])
	}
	return failed
}

func (a *app) storeImport() *cobra.Command {
	c := &cobra.Command{
		Use: "import FILE ...", Short: "Take in JSON lines, from another machine or anywhere", Args: cobra.MinimumNArgs(1),
		Long: `import reads what tune store export wrote, or configs as tune prints them; "-" is stdin.
Every line is checked against the schema and its schedule against the space: what is not
valid is refused and told, the rest is taken. Of two records of one problem on one device
the later is kept, then the faster. Ends with code 2 if anything was refused.`,
		Example: "  tune store import tuned.jsonl\n  zcat h200.jsonl.gz | tune store import -",
		RunE: func(_ *cobra.Command, files []string) error {
			store, err := a.openStore()
			if err != nil {
				return err
			}
			return a.takeIn(files, func(name string) (cache.Imported, error) { return importFile(store, name) })
		},
	}
	return a.JSONFlag(c)
}

// importFile imports a file of lines, or of one document that stands on many.
func importFile(store *cache.Store, name string) (cache.Imported, error) {
	if name == "-" {
		return store.Import(os.Stdin, legal)
	}
	f, err := cache.OpenFile(name)
	if err != nil {
		return cache.Imported{}, tuner.Input(err)
	}
	defer f.Close()
	done, err := store.Import(f, legal)
	if info, e := f.Stat(); err == nil && e == nil && info.Mode()&fs.ModeNamedPipe != 0 && done.Configs+done.Entries+done.Kept+len(done.Refused) == 0 {
		err = cli.Usagef("%s: nothing came from this pipe", name) // nobody writes into it, or who does has failed: its exit code is lost
	}
	return done, err
}

func (a *app) storeMerge() *cobra.Command {
	c := &cobra.Command{
		Use: "merge STORE ...", Short: "Take in other stores, journals included", Args: cobra.MinimumNArgs(1),
		Long: `merge takes what other stores hold, files or databases, into this one (--store). The
others are only read. The rule is that of import, so the order of merging does not matter.
Ends with code 2 if anything was refused.`,
		Example: "  tune store merge node1.db node2.db\n  tune store merge ~/.local/share/tune/store.db --store postgres://tune@db/site",
		RunE: func(_ *cobra.Command, files []string) error {
			store, err := a.openStore()
			if err != nil {
				return err
			}
			return a.takeIn(files, func(name string) (cache.Imported, error) {
				other, err := a.openExisting(name)
				if err != nil {
					return cache.Imported{}, err
				}
				var b bytes.Buffer
				if err := other.Export(&b, true, func(cache.Key) bool { return true }); err != nil {
					return cache.Imported{}, err
				}
				return store.Import(&b, legal)
			})
		},
	}
	return a.JSONFlag(c)
}

// openExisting opens a store that must be there.
func (a *app) openExisting(name string) (*cache.Store, error) {
	if err := cli.NoPassword(name); err != nil {
		return nil, err
	}
	if !cache.IsURL(name) {
		if _, err := os.Stat(name); err != nil {
			return nil, tuner.Input(err)
		}
	}
	s, err := cache.Open(name)
	if err == nil {
		a.Watch(s)
	}
	return s, err
}

func (a *app) storeCheck() *cobra.Command {
	var repair string
	c := &cobra.Command{
		Use: "check", Short: "Read every page and record of the store", Args: cobra.NoArgs,
		Long: `check proves every page, checksum and record. Ends with code 6 if anything is damaged.
--repair writes what is readable into a new store; the damaged file is left as it is.`,
		Example: "  tune store check\n  tune store check --repair saved.db",
		RunE: func(*cobra.Command, []string) error {
			store, err := a.readStore()
			if err != nil {
				return err
			}
			if repair != "" {
				if err := a.repair(store, repair); err != nil {
					return err
				}
			}
			r, err := store.Check()
			if err != nil {
				return err
			}
			if a.JSON {
				err = a.PrintJSON(r)
			} else {
				_, err = fmt.Fprintf(a.Out, "%s: %d bytes, %d configs, %d problems with %d journal entries, %d unfinished, %d damaged\n",
					r.Path, r.Bytes, r.Configs, r.Problems, r.Entries, r.Unfinished, r.Damaged)
			}
			for _, p := range r.Places {
				a.Say("damaged: %s", p)
			}
			return err
		},
	}
	c.Flags().StringVar(&repair, "repair", "", "write what is readable into a new store, `file`")
	return a.JSONFlag(c)
}

// repair saves what is readable of a store in a new one.
func (a *app) repair(store *cache.Store, file string) error {
	if cache.IsURL(file) {
		return cli.Usagef("--repair takes a new file; tune store merge moves what it holds into a database")
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("--repair %s: it is there: name a new file", file)
	}
	to, err := cache.Open(file)
	if err != nil {
		return err
	}
	done, err := store.Repair(to)
	if err != nil {
		return err
	}
	a.Say("%d configs and %d journal entries saved in %s; to go on with it put it in the place of the damaged store", done.Configs, done.Entries, file)
	return nil
}

// difference is one line of `tune store diff`.
type difference struct {
	Sign string      `json:"sign"` // "-" only here, "+" only there, "~" not the same
	Key  string      `json:"key"`
	Here *storedInfo `json:"here,omitempty"`
	With *storedInfo `json:"there,omitempty"`
}

func (a *app) storeDiff() *cobra.Command {
	var f storeFilter
	c := &cobra.Command{
		Use: "diff STORE", Short: "Compare the configs of this store with another's", Args: cobra.ExactArgs(1),
		Long:    `diff prints "-" for what only this store has, "+" for what only the other has, "~" for what differs.`,
		Example: "  tune store diff node1.db",
		RunE: func(_ *cobra.Command, args []string) error {
			_, here, err := a.chosen(&f)
			if err != nil {
				return err
			}
			keep, err := f.keep()
			if err != nil {
				return err
			}
			other, err := a.openExisting(args[0])
			if err != nil {
				return err
			}
			there, err := other.Bests()
			if err != nil {
				return err
			}
			list := differences(here, there, keep)
			if a.JSON {
				return a.PrintJSON(list)
			}
			for _, d := range list {
				what := d.Here
				if what == nil {
					what = d.With
				}
				fmt.Fprintf(a.Out, "%s %s %s %s on %s (%s)", d.Sign, what.Stencil, what.DType, what.Size, what.Device, what.Driver)
				if d.Sign == "~" {
					fmt.Fprintf(a.Out, ": %s %.4g ms -> %s %.4g ms", d.Here.Schedule, 1e3*d.Here.SecondsPerStep, d.With.Schedule, 1e3*d.With.SecondsPerStep)
				}
				fmt.Fprintln(a.Out)
			}
			return nil
		},
	}
	f.bind(c)
	return a.JSONFlag(c)
}

// differences merges two lists that are both in the order of their keys' texts.
func differences(here, there []cache.Stored, keep chooser) []difference {
	list := []difference{}
	for i, j := 0, 0; i < len(here) || j < len(there); {
		switch {
		case j < len(there) && !keep(there[j].Key, &there[j].Config):
			j++
		case j == len(there) || i < len(here) && here[i].Key.String() < there[j].Key.String():
			x := infoOf(here[i])
			list = append(list, difference{Sign: "-", Key: x.Key, Here: &x})
			i++
		case i == len(here) || here[i].Key.String() > there[j].Key.String():
			x := infoOf(there[j])
			list = append(list, difference{Sign: "+", Key: x.Key, With: &x})
			j++
		default:
			x, y := infoOf(here[i]), infoOf(there[j])
			if a, errA := cache.Encode(here[i].Config); errA == nil {
				if b, errB := cache.Encode(there[j].Config); errB == nil && !bytes.Equal(a, b) {
					list = append(list, difference{Sign: "~", Key: x.Key, Here: &x, With: &y})
				}
			}
			i, j = i+1, j+1
		}
	}
	return list
}
