package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/figure"
	"stenciltune/report"
	"stenciltune/tuner"
)

func (a *app) plot() *cobra.Command {
	var f reportFlags
	var choice report.Choice
	var file, format, against string
	var names []string
	var kinds strings.Builder
	for _, p := range report.Plots() {
		names = append(names, p.Name)
		fmt.Fprintf(&kinds, "  %-11s %s\n", p.Name, p.Doc)
	}
	c := &cobra.Command{
		Use:   "plot KIND [--stencil NAME] [--device NAME|replay:h200|FILE] [-o FILE]",
		Short: "Draw a chart of the report as SVG or PNG, or print its numbers",
		Long: `plot draws one chart of what tune report shows, for a paper: SVG or PNG by the file's
name, with the numbers as a table by --format csv or text. Kinds:

` + kinds.String(),
		Example: `  tune plot heatmap --stencil jacobi3d --device replay:h200 --param ph --param vy -o heatmap.svg
  tune plot progress --stencil jacobi3d --device replay:h200 --against seconds -o progress.png
  tune plot importance --stencil jacobi3d --format csv`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			at := slices.Index(names, args[0])
			switch {
			case at < 0:
				return cli.Usagef("no plot %q: use one of %s", args[0], strings.Join(names, ", "))
			case against != "evaluations" && against != "seconds":
				return cli.Usagef("--against %q: use evaluations or seconds", against)
			case len(choice.Params) != 0 && (len(choice.Params) != 2 || choice.Params[0] == choice.Params[1]):
				return cli.Usagef("--param: name two different parameters, that across and that up, or none")
			}
			if format == "" {
				format = figure.FormatOf(file)
			}
			if !slices.Contains(figure.Formats(), format) {
				return cli.Usagef("no format %q: use one of %s, by --format or the file's name", format, strings.Join(figure.Formats(), ", "))
			}
			choice.Seconds = against == "seconds"
			d, err := a.reportData(c.Context(), f)
			if err != nil {
				return err
			}
			if len(d.Tunes) > 1 {
				var have []string
				for _, t := range d.Tunes {
					have = append(have, t.Problem+" on "+t.Device.Name)
				}
				return cli.Usagef("a plot is of one tune, and these are %d: choose with --stencil, --dtype, --size and --device: %s", len(have), strings.Join(have, "; "))
			}
			drawn, err := report.Plots()[at].Figure(d.Tunes[0], choice)
			if err != nil {
				return tuner.Input(err)
			}
			var b bytes.Buffer
			if err := figure.Write(&b, drawn, format); err != nil {
				return err
			}
			if file == "" {
				_, err = a.Out.Write(b.Bytes())
				return err
			}
			return cache.WriteFile(file, b.Bytes())
		},
	}
	f.bind(c)
	c.Flags().StringVar(&choice.Family, "family", "", "kernel `family`, for importance, heatmap and parallel (default: the fastest schedule's)")
	c.Flags().StringArrayVar(&choice.Params, "param", nil, "`parameter` of a heat map: twice, that across and that up (default: the two most important)")
	c.Flags().StringVar(&against, "against", "evaluations", "what progress is drawn against: evaluations or `seconds`")
	c.Flags().StringVar(&format, "format", "", "`format`: svg, png, csv or text (default: by the file's name, else text)")
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default: standard output)")
	return c
}
