package search

import (
	"fmt"
	"slices"
	"strings"

	"stenciltune/space"
)

// maker makes one strategy.
type maker struct {
	name string
	make func(*pool, uint64) (Strategy, error)
}

// makers are all strategies, the recommended one first.
var makers = []maker{
	{"bayes", newBayes},
	{"descent", newDescent},
	{"model", newModelOrder},
	{"random", newRandom},
	{"exhaustive", newExhaustive},
}

// Names are the strategies that New knows, the recommended one first.
func Names() []string {
	names := make([]string, len(makers))
	for i, m := range makers {
		names[i] = m.name
	}
	return names
}

// New makes a strategy by name. It lists the space once and, where the strategy
// looks at a prior, asks the prior for every schedule once.
func New(name string, o Options) (Strategy, error) {
	if o.Space == nil {
		return nil, fmt.Errorf("strategy %s: no space given", name)
	}
	if name == "random" || name == "exhaustive" {
		o.Prior = nil
	}
	return List(o.Space, o.Prior, o.Parts).New(name, o.Seed)
}

// Listing is a space listed once, with what a prior says of every schedule: what
// many searches of one space share. It may be used from several goroutines.
type Listing struct{ c *enumeration }

// List lists a space; a nil prior says nothing, and nil parts are not known.
func List(s *space.Space, prior Prior, parts Parts) *Listing {
	return &Listing{enumerate(s, prior, parts)}
}

// New makes a strategy by name for one more search.
func (l *Listing) New(name string, seed uint64) (Strategy, error) {
	i := slices.IndexFunc(makers, func(m maker) bool { return m.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown strategy %q; the strategies are %s", name, strings.Join(Names(), ", "))
	}
	return makers[i].make(newPool(l.c), seed)
}
