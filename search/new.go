package search

import (
	"fmt"
	"slices"
	"strings"
)

// maker makes one strategy.
type maker struct {
	name string
	make func(*pool, Options) (Strategy, error)
}

// makers are all strategies, the recommended one first.
var makers = []maker{
	{"bayes", newBayes},
	{"descent", newDescent},
	{"model", newModelOrder},
	{"tpe", newTPE},
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
	i := slices.IndexFunc(makers, func(m maker) bool { return m.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown strategy %q; the strategies are %s", name, strings.Join(Names(), ", "))
	}
	prior := o.Prior
	if name == "random" || name == "exhaustive" || name == "tpe" {
		prior = nil
	}
	return makers[i].make(newPool(newCatalog(o.Space, prior)), o)
}
