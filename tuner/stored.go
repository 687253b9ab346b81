package tuner

import (
	"fmt"
	"slices"
	"strings"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/machine"
	"stenciltune/timing"
)

// KeyOf is the store's key of a problem on a machine, timed in a cache regime.
func KeyOf(p Problem, m machine.Machine, regime timing.Regime) cache.Key {
	return cache.Key{
		StencilHash: p.Hash(), DType: string(p.DType), Boundary: string(p.Stencil.Boundary),
		Size: p.Size.Text(p.Stencil.Dims), StepsClass: cache.StepsClass(p.Steps), Regime: string(regime),
	}.On(m)
}

// better tells which of two configs of one device tells of it: a real GPU's before a
// recording's, then the newer.
func better(a, b *cache.Config) bool {
	if gpu := a.Device.Kind == machine.CUDA; gpu != (b.Device.Kind == machine.CUDA) {
		return gpu
	}
	return a.Time.After(b.Time)
}

// Stored finds a device in the store by its name, "NVIDIA H200" or "nvidia-h200", or by
// a part of it that no other device's has, "h200". Of several configs the newest tells
// the driver. What is not there is a device.ErrMissing that lists what is.
func (t *Tuner) Stored(name string) (machine.Machine, error) {
	all, err := t.store.Bests()
	if err != nil {
		return machine.Machine{}, err
	}
	slug := machine.Machine{Name: name}.Slug()
	var found *cache.Config
	var names []string
	matches := map[string]bool{}
	for i := range all {
		c := &all[i].Config
		if !slices.Contains(names, c.Device.Name) {
			names = append(names, c.Device.Name)
		}
		own := machine.Machine{Name: c.Device.Name}.Slug()
		if slug == "" || own != slug && !strings.Contains(own, slug) {
			continue
		}
		if own == slug && !matches[own] { // in full: it beats those of which it is a part
			clear(matches)
			found = nil
		}
		if matches[slug] && own != slug {
			continue
		}
		matches[own] = true
		if found == nil || better(c, found) {
			found = c
		}
	}
	switch {
	case len(matches) > 1:
		return machine.Machine{}, fmt.Errorf("%w: the store knows several devices %q: %s: name one in full", device.ErrMissing, name, strings.Join(names, ", "))
	case found != nil:
		return found.Machine(), nil
	case len(names) == 0 && !t.store.Sound():
		return machine.Machine{}, fmt.Errorf("%w: no config in the store can be read: tune store check says what is damaged", device.ErrMissing)
	case len(names) == 0:
		return machine.Machine{}, fmt.Errorf("%w: the store is empty: tune on a device first, or import configs with tune store import", device.ErrMissing)
	}
	return machine.Machine{}, fmt.Errorf("%w: the store knows no device %q; it knows %s", device.ErrMissing, name, strings.Join(names, ", "))
}

// Rated is a machine with the rates that the store knows of it.
func (t *Tuner) Rated(m machine.Machine) (machine.Machine, error) {
	r, ok, err := t.store.Rates(m)
	if err != nil || !ok {
		return m, err
	}
	m.Rates, m.CopyBytesPerSecond = r.Rates, r.CopyBytesPerSecond
	return m, nil
}
