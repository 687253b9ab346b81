package samplers

import (
	"fmt"
	"slices"

	"stenciltune/search"
)

// makers are all samplers, the best first.
var makers = []struct {
	name string
	make func(search.Pool, uint64) (search.Strategy, error)
}{{"tpe", newTPE}, {"cmaes", newCMAES}, {"sobol", newSobol}}

// Names are the samplers that New knows, the best first.
func Names() []string {
	var names []string
	for _, m := range makers {
		names = append(names, m.name)
	}
	return names
}

// New makes a sampler over a listing.
func New(name string, l *search.Listing, seed uint64) (search.Strategy, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, fmt.Errorf("unknown sampler %q; the samplers are %v", name, Names())
	}
	return makers[i].make(l.Pool(), seed)
}
