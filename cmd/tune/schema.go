package main

import (
	"github.com/spf13/cobra"

	"stenciltune/cache"
)

func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the config",
		Example: "  tune schema > config.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(cache.Schema())
			return err
		},
	}
}
