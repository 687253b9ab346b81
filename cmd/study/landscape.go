package main

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device/cuda"
	"stenciltune/device/replay"
	"stenciltune/outcome"
	"stenciltune/study/carry"
	"stenciltune/study/exchange"
	"stenciltune/tuner"
)

// landscapeFormat is one way of writing landscapes down.
type landscapeFormat struct {
	name  string
	write func(io.Writer, *replay.Landscape) error
	read  func(io.Reader) (*replay.Landscape, error)
}

var landscapeFormats = []landscapeFormat{
	{"kernel-tuner", exchange.WriteKernelTuner, exchange.ReadKernelTuner},
	{"t4", exchange.WriteT4, exchange.ReadT4},
}

func parseLandscapeFormat(name string) (landscapeFormat, error) {
	var names []string
	for _, f := range landscapeFormats {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return landscapeFormat{}, cli.Usagef("--format %q: use %s", name, strings.Join(names, " or "))
}

// landscape groups the commands on recordings.
func (a *app) landscape() *cobra.Command {
	c := &cobra.Command{
		Use:   "landscape",
		Short: "Exchange recorded landscapes with other tuners",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.landscapeExport(), a.landscapeImport(), a.landscapeCarry())
	return c
}

func (a *app) landscapeExport() *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "export --format kernel-tuner|t4 LANDSCAPE",
		Short: "Write a landscape as a Kernel Tuner cache file or as T4 results",
		Long: `export writes a recording, named by part of a shipped one's name or by its file,
in a format that other tuners read. Times become milliseconds of one time step.`,
		Example: `  study landscape export --format kernel-tuner jacobi3d_f32 > jacobi3d.json
  study landscape export --format t4 ./mine.jsonl.gz -o mine.json`,
		Args: cli.OneArg("which landscape?"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := parseLandscapeFormat(format)
			if err != nil {
				return err
			}
			found, err := replay.Match(args[0])
			if err != nil {
				return err
			}
			if len(found) > 1 {
				return cli.Usagef("%q is part of the names of %d landscapes; name one: %s", args[0], len(found),
					strings.Join(slices.DeleteFunc(replay.Names(), func(n string) bool { return !strings.Contains(n, args[0]) }), ", "))
			}
			var b bytes.Buffer
			if err := f.write(&b, found[0]); err != nil {
				return err
			}
			if output != "" {
				return cache.WriteFile(output, b.Bytes())
			}
			_, err = a.Out.Write(b.Bytes())
			return err
		},
	}
	c.Flags().StringVar(&format, "format", "", "kernel-tuner or t4")
	c.Flags().StringVarP(&output, "output", "o", "", "write to `file` instead of stdout")
	return c
}

func (a *app) landscapeImport() *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "import --format kernel-tuner|t4 FILE --output LANDSCAPE.jsonl.gz",
		Short: "Make a landscape of another tuner's results, for study replay-bench",
		Long: `import reads a Kernel Tuner cache file or T4 results. What was exported here comes
back as it was; another tuner's kernel becomes one family, whose values that are
no whole numbers are numbered in the order in which the file lists them.`,
		Example: "  study landscape import --format kernel-tuner convolution_A100.json -o convolution_A100.jsonl.gz\n" +
			"  study replay-bench --landscape ./convolution_A100.jsonl.gz",
		Args: cli.OneArg("which file?"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := parseLandscapeFormat(format)
			if err != nil {
				return err
			}
			if output == "" {
				return cli.Usagef("where to? name the landscape's file with --output")
			}
			file, err := cache.OpenFile(args[0])
			if err != nil {
				return tuner.Input(err)
			}
			defer file.Close()
			l, err := f.read(file)
			if err != nil {
				return cli.Usagef("%s: %w", args[0], err)
			}
			a.Say("%d schedules of %s", len(l.Order), l.Header.Stencil)
			return writeLandscape(output, l)
		},
	}
	c.Flags().StringVar(&format, "format", "", "kernel-tuner or t4")
	c.Flags().StringVarP(&output, "output", "o", "", "`file` of the landscape")
	return c
}

// writeLandscape writes a landscape to a file.
func writeLandscape(file string, l *replay.Landscape) error {
	var records []outcome.Outcome
	for _, s := range l.Order {
		records = append(records, l.Records[s])
	}
	var b bytes.Buffer
	if err := replay.Write(&b, l.Header, records); err != nil {
		return err
	}
	return cache.WriteFile(file, b.Bytes())
}

func (a *app) landscapeCarry() *cobra.Command {
	var old string
	c := &cobra.Command{
		Use:   "carry --from TUNE LANDSCAPE.jsonl.gz ...",
		Short: "Take recordings over to today's sources where the machine code is the same",
		Long: `carry gives the records of a landscape the hashes of today's sources, where these are
compiled to the same machine code: the recording is then gone on with by --record. --from is
the program tune of the revision that recorded it; it prints the sources of then. Sources that
differ in words alone are not compiled; the others need NVRTC.`,
		Example: "  study landscape carry --from ./tune-of-then mine.jsonl.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			if old == "" {
				return cli.Usagef("from which program? name the tune that recorded them with --from")
			}
			compiler, err := cuda.OpenCompiler()
			if err != nil {
				return err
			}
			defer compiler.Close()
			for _, file := range files {
				path, err := filepath.Abs(file) // a name alone would be a shipped recording's
				if err != nil {
					return err
				}
				found, err := replay.Match(path)
				if err != nil {
					return err
				}
				l := found[0]
				report, err := carry.Landscape(c.Context(), l, carry.Program(old), carry.Compiler(compiler, l.Header.Machine))
				if err != nil {
					return err
				}
				a.Say("%s: %s", file, report)
				if err := writeLandscape(file, l); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&old, "from", "", "`path` of the program tune that recorded")
	return c
}
