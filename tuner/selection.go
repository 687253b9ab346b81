package tuner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/replay"
	"stenciltune/device/worker"
	"stenciltune/machine"
)

// allGPUs is the name of every GPU that the driver shows.
const allGPUs = "all"

// Selection is the names of devices of one model, each as OpenDevice takes it: what a tune can be
// spread over.
type Selection []string

// String is the names with commas between.
func (s Selection) String() string { return strings.Join(s, ",") }

// listed tells whether a name means a list of devices.
func listed(name string) bool { return name == allGPUs || strings.Contains(name, ",") }

// Select reads a list of devices: names with commas between, of GPUs or of recordings, or "all", the
// GPUs that the driver shows, or a single name as OpenDevice takes it. It gives a selection for each
// model, in the order of the list. A recording may be named again, as a device like it; a GPU may not.
func Select(list string) ([]Selection, error) {
	if !listed(list) {
		return []Selection{{list}}, nil
	}
	var names []string
	if list != allGPUs {
		names = strings.Split(list, ",")
	}
	recordings := 0
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
		switch n := names[i]; {
		case n == "":
			return nil, Inputf("--device %q: a name is empty", list)
		case strings.HasPrefix(n, ReplayPrefix):
			recordings++
		case n == allGPUs, IsHost(n), strings.HasPrefix(n, ModelPrefix), n == "replay":
			return nil, Inputf("--device %s: %s stands alone; a list is of GPUs (0,1 or UUIDs or PCI addresses) or of recordings (replay:h200,replay:h200)", list, n)
		}
	}
	switch recordings {
	case 0:
		return selectGPUs(list, names)
	case len(names):
		return grouped(names, func(i int) string { return names[i] }), nil
	}
	return nil, Inputf("--device %s: a list is of GPUs or of recordings, not of both", list)
}

// selectGPUs finds GPUs by their names, or all.
func selectGPUs(list string, names []string) ([]Selection, error) {
	all, err := cuda.List()
	if err != nil {
		return nil, without(err)
	}
	return matched(list, names, all)
}

// matched are the GPUs of a list among all that there are, by their ordinals.
func matched(list string, names []string, all []machine.Machine) ([]Selection, error) {
	var ordinals []string
	var chosen []machine.Machine
	for _, n := range names {
		i, err := cuda.Match(all, n)
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", list, err)
		}
		ordinal := fmt.Sprint(i)
		if at := slices.Index(ordinals, ordinal); at >= 0 {
			return nil, Inputf("--device %s: %s and %s are the same GPU (%d = %s, %s); name each once", list, names[at], n, i, all[i].Name, all[i].UUID)
		}
		ordinals, chosen = append(ordinals, ordinal), append(chosen, all[i])
	}
	if len(names) == 0 { // all
		chosen = all
		for i := range all {
			ordinals = append(ordinals, fmt.Sprint(i))
		}
	}
	return grouped(ordinals, func(i int) cache.Key { // by what a store tells devices of one host apart
		k := cache.Key{}.On(chosen[i])
		k.Driver = ""
		return k
	}), nil
}

// grouped puts names of one model together, in the order in which each is named first.
func grouped[K comparable](names []string, model func(i int) K) (list []Selection) {
	at := map[K]int{}
	for i, n := range names {
		k := model(i)
		if _, ok := at[k]; !ok {
			at[k] = len(list)
			list = append(list, nil)
		}
		list[at[k]] = append(list[at[k]], n)
	}
	return list
}

// Open opens a selection as one device for a problem. Several are a device.Several.
func (s Selection) Open(ctx context.Context, p Problem) (Device, error) {
	if len(s) == 1 {
		return OpenDevice(ctx, s[0], p)
	}
	if name, ok := strings.CutPrefix(s[0], ReplayPrefix); ok {
		l, err := replay.Find(name, p)
		if err != nil {
			return nil, err
		}
		return replay.Several(l, len(s)), nil
	}
	return openGPUs(ctx, s...)
}

// Opener opens a device for one more problem.
type Opener func(ctx context.Context, p Problem) (Device, error)

// Each opens the devices of a selection for many tunes, one on each at a time: an Opener for every
// device, and what closes them in the end. Several GPUs are opened once and share their compilers;
// one that was lost stays so.
func (s Selection) Each(ctx context.Context) (all []Opener, end func() error, err error) {
	if len(s) == 1 || strings.HasPrefix(s[0], ReplayPrefix) {
		for _, name := range s {
			all = append(all, func(ctx context.Context, p Problem) (Device, error) { return OpenDevice(ctx, name, p) })
		}
		return all, func() error { return nil }, nil
	}
	d, err := openGPUs(ctx, s...)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range d.Members() {
		gpu := lent{m.(*worker.Device)}
		all = append(all, func(context.Context, Problem) (Device, error) {
			if why := gpu.Lost(); why != nil {
				return nil, fmt.Errorf("%w: %w", device.ErrLost, why)
			}
			return gpu, nil
		})
	}
	return all, d.Close, nil
}

// lent is a GPU that stays open when a tune has closed it.
type lent struct{ *worker.Device }

// Close leaves it open.
func (lent) Close() error { return nil }
