package search_test

import (
	"testing"

	"stenciltune/search"
	"stenciltune/search/searchtest"
)

func TestConformance(t *testing.T) {
	for _, name := range search.Names() {
		t.Run(name, func(t *testing.T) {
			searchtest.Conform(t, name, func(o search.Options) (search.Strategy, error) { return search.New(name, o) })
		})
	}
}
