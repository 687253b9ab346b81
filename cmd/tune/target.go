package main

import (
	"errors"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/device"
	"stenciltune/device/cuda"
	"stenciltune/device/host"
	"stenciltune/device/replay"
	"stenciltune/machine"
	"stenciltune/tuned"
)

// target is the machine that --device names for an answer from the store: one that is
// here, a recording, or one of which the store has configs. Without a name it is the
// first GPU here, else the only device in the store.
func (a *app) target(store *cache.Store, name string) (machine.Machine, error) {
	switch {
	case isHost(name):
		h, err := host.Open(host.Options{})
		if err != nil {
			return machine.Machine{}, err
		}
		defer h.Close()
		return h.Machine(), nil
	case strings.HasPrefix(name, replayPrefix):
		return replay.MachineOf(strings.TrimPrefix(name, replayPrefix))
	case name == "":
		m, err := cuda.Describe("0")
		if err == nil || !errors.Is(err, device.ErrMissing) {
			return m, err
		}
		all, err := store.Bests()
		if err != nil {
			return m, err
		}
		names := map[string]bool{}
		for _, s := range all {
			names[s.Config.Device.Name] = true
			name = s.Config.Device.Name
		}
		if len(names) > 1 {
			return m, usagef("no GPU here, and the store knows several devices: choose one with --device NAME (tune store list shows them)")
		}
		return tuned.Device(store, name)
	}
	if m, err := cuda.Describe(name); err == nil || selectsGPU(name) {
		return m, err
	}
	return tuned.Device(store, name)
}

// selectsGPU tells whether a device's name is an ordinal, a UUID or a PCI address and
// so cannot be one that the store knows.
func selectsGPU(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil || strings.HasPrefix(name, "GPU-") || strings.Contains(name, ":")
}
