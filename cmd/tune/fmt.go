package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cache"
	"stenciltune/cmd/internal/cli"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

func (a *app) format() *cobra.Command {
	var only bool
	c := &cobra.Command{
		Use:   "fmt FILE.sl ...",
		Short: "Write stencil files in one layout",
		Long: `Writes stencil files in one layout: blocks indented by two spaces, a key a line, one space
around operators. Comments and line breaks stay the author's, and the meaning is the same.
Prints the files that it changed; with --check it changes none and ends with code 2 if one
would be.`,
		Example: "  tune fmt *.sl\n  tune fmt --check Hotspot.sl",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("which files? name one, like Hotspot.sl")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var other []string
			for _, file := range args {
				if !strings.HasSuffix(file, ".sl") {
					return cli.Usagef("%s: the name of a stencil file ends in .sl", file)
				}
				s, err := tuner.LoadStencil(file)
				if err != nil {
					return err
				}
				text, err := stencil.Format(file, s.Text())
				if err != nil {
					return err
				}
				if text == s.Text() {
					continue
				}
				other = append(other, file)
				if only {
					continue
				}
				mode, err := os.Stat(file)
				if err == nil {
					err = cache.WriteFile(file, []byte(text))
				}
				if err == nil {
					err = os.Chmod(file, mode.Mode().Perm())
				}
				if err != nil {
					return fmt.Errorf("tune fmt: %w", err)
				}
			}
			for _, file := range other {
				fmt.Fprintln(a.Out, file)
			}
			if only && len(other) > 0 {
				return cli.Usagef("%s not in the layout of tune fmt; run tune fmt %s", strings.Join(other, ", "), strings.Join(other, " "))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&only, "check", false, "change nothing; code 2 if a file is not in the layout")
	return c
}
