package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/emit"
	"stenciltune/kernels/all"
	"stenciltune/tuner"
)

// images are the formats that need a compiler.
var images = []string{"ptx", "cubin"}

func formats() []string {
	var names []string
	for _, f := range emit.Formats() {
		names = append(names, f.Name)
	}
	return append(names, images...)
}

// emitFlags are those of emit beside the look-up's.
type emitFlags struct {
	lookupFlags
	format, name, output    string
	configs, devices, sizes []string
	pitched                 bool
}

func (a *app) emit() *cobra.Command {
	var f emitFlags
	var long strings.Builder
	long.WriteString(`emit writes a stored config in a form that another build reads; no GPU is needed.
Tune first: what is emitted for a device is what a tune on it, or on a recording of it, has stored
here, or what tune store import has taken in from another machine.

Formats:
`)
	for _, x := range emit.Formats() {
		fmt.Fprintf(&long, "  %-11s %s\n", x.Name, x.Doc)
	}
	long.WriteString(`  ptx, cubin  compiled kernels, with FILE.json that says how to launch them; needs NVRTC

The same config gives the same bytes. With --output a file is only touched if its
bytes change, so that builds run again only when they must.`)
	c := &cobra.Command{
		Use:   "emit --format FORMAT (--stencil NAME [--device D] | --config FILE)",
		Short: "Write a config as a header, build variables, CUDA source or a compiled kernel",
		Long:  long.String(),
		Example: `  tune --stencil jacobi3d --device 0 > jacobi3d.json
  tune emit --format cu --config jacobi3d.json -o jacobi3d.cu
  tune emit --format cu --stencil jacobi3d -o jacobi3d.cu
  tune store import a100.json                                # a config, or an export, from a machine with an A100
  tune emit --format cu --stencil jacobi3d --device h200 --device a100 --size 512x512x512 --size 256x256x256 -o jacobi3d.cu
  tune emit --format header --stencil jacobi3d --device h200 --device a100 -o jacobi3d.h
  tune emit --format cubin --config jacobi3d.json -o jacobi3d.cubin`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name := given(c, "device", "size", "dtype", "compute", "steps", "scalar", "timing", "objective", "require"); len(f.configs) > 0 && name != "" {
				return cli.Usagef("--config excludes --%s: a config has its own", name)
			}
			return a.emitAs(c.Context(), &f)
		},
	}
	f.BindSizes(c, &f.sizes)
	c.Flags().StringVar(&f.format, "format", "", "`form` to write: "+strings.Join(formats(), ", "))
	c.Flags().StringVar(&f.name, "name", "", "C `identifier` that begins the emitted names (default: the stencil's function or name)")
	c.Flags().BoolVar(&f.pitched, "pitched", false, "with cu, header or fortran: also functions for grids whose rows are parts of longer ones")
	c.Flags().StringArrayVar(&f.configs, "config", nil, "take the config from `file` instead of the store; repeat it for several devices or sizes")
	c.Flags().StringArrayVar(&f.devices, "device", nil, "`device`, as for tune best; repeat it for several")
	c.Flags().StringVar(&f.regime, "timing", "warm", "cache `regime`: warm or cold")
	cli.BindObjective(c, &f.objective, docObjective)
	c.Flags().StringVar(&f.require, "require", "other-device", "worst `grade` to answer with: "+strings.Join(cli.Grades(), ", "))
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `file`, only if it changed (default: stdout)")
	if err := c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("tune: completion of --format: " + err.Error())
	}
	return c
}

func (a *app) emitAs(ctx context.Context, f *emitFlags) error {
	image := slices.Contains(images, f.format)
	switch {
	case f.format == "":
		return cli.Usagef("which form? choose one with --format: %s", strings.Join(formats(), ", "))
	case !slices.Contains(formats(), f.format):
		return cli.Usagef("--format %s: there is none; there are %s", f.format, strings.Join(formats(), ", "))
	case image && f.output == "":
		return cli.Usagef("--format %s writes a binary file and FILE.json beside it: name it with --output", f.format)
	case image && f.pitched:
		return cli.Usagef("--pitched: format %s has nothing for pitched grids; cu has", f.format)
	}
	s, err := a.sourceOf(ctx, f)
	if err != nil {
		return err
	}
	if image {
		return a.emitImage(f, s)
	}
	text, err := emit.Text(f.format, s)
	if err != nil {
		return tuner.Input(err)
	}
	return a.write(f.output, text)
}

// write puts bytes into a file, or onto stdout.
func (a *app) write(file string, b []byte) error {
	if file != "" {
		return cache.WriteFile(file, b)
	}
	_, err := a.Out.Write(b)
	return err
}

// sourceOf collects what is to be emitted.
func (a *app) sourceOf(ctx context.Context, f *emitFlags) (emit.Source, error) {
	var s emit.Source
	if len(f.configs) > 0 {
		for _, file := range f.configs {
			if strings.HasSuffix(file, ".sl") {
				return s, cli.Usagef("--config %s: a stencil file is for --stencil; --config takes what tune prints of it (JSON)", file)
			}
			c, err := tuner.ReadConfig(file)
			if err != nil {
				return s, err
			}
			p, err := tuner.ProblemOf(c, f.Stencil)
			if err != nil && !needsKernel(f.format) && f.Stencil == "" {
				// A config of somebody's own stencil says all that these forms hold.
				if f.format == "header" {
					a.Say("warning: %s: the header has no prototypes of the emitted source: name the stencil's file with --stencil", file)
				}
				s.Configs = append(s.Configs, c)
				continue
			}
			if err != nil {
				return s, err
			}
			if len(s.Configs) == 0 {
				s.Problem = p
			}
			if stale, err := new(tuner.Tuner).Refresh(&c, p); err != nil {
				return s, cli.Usagef("%s: %w", file, err)
			} else if stale {
				a.Say("warning: %s: the kernel or its launch has changed since it was measured: tune again", file)
			}
			s.Configs = append(s.Configs, c)
		}
	} else {
		for _, d := range orOne(f.devices) {
			for _, size := range orOne(f.sizes) {
				g := f.lookupFlags
				g.device, g.Size = d, size
				p, answer, err := a.lookup(ctx, &g)
				if err != nil {
					return s, err
				}
				a.sayAnswer(p, answer)
				if len(s.Configs) == 0 {
					s.Problem = p
				}
				s.Configs = append(s.Configs, answer.Config)
			}
		}
	}
	s.Pitched = f.pitched
	st := s.Problem.Stencil
	if st != nil {
		s.Families = all.Families()
	}
	switch {
	case f.name != "":
		s.Name = f.name
	case st != nil && st.Function != "":
		s.Name = emit.Name(st.Function)
	default:
		s.Name = emit.Name(s.Configs[0].Stencil.Name)
	}
	return s, nil
}

// orOne is a list, or if it is empty one empty text.
func orOne(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// needsKernel tells whether a format holds the kernel, or what calls it, and so needs its stencil.
func needsKernel(format string) bool {
	return format == "cu" || format == "python" || format == "fortran" || slices.Contains(images, format)
}

// emitImage compiles the kernels for the config's device and writes the image, and
// its geometry beside it.
func (a *app) emitImage(f *emitFlags, s emit.Source) error {
	if len(s.Configs) > 1 {
		return cli.Usagef("--format %s holds one config and %d were given: choose one device", f.format, len(s.Configs))
	}
	image, err := emit.ImageOf(s)
	if err != nil {
		return tuner.Input(err)
	}
	m := s.Configs[0].Machine()
	if m.ComputeCapability == "" {
		return cli.Usagef("--format %s: the config is of %s, which is no GPU: use --format cu", f.format, m.Name)
	}
	compiler, err := cuda.OpenCompiler()
	if err != nil {
		return fmt.Errorf("--format %s needs a compiler: %w; --format cu needs none", f.format, err)
	}
	defer compiler.Close()
	bytes, err := compiler.Image(image.Kernel, m, f.format == "ptx")
	if failure := device.AsFailure(err); failure != nil {
		return fmt.Errorf("the emitted source does not compile: %s\n%s", failure.Reason, failure.Log)
	}
	if err != nil {
		return err
	}
	if err := cache.WriteFile(f.output+".json", image.Geometry); err != nil {
		return err
	}
	return cache.WriteFile(f.output, bytes)
}
