package replay

import (
	"fmt"
	"strings"

	"stenciltune/device"
	"stenciltune/machine"
)

// MachineOf is the machine of a recording, whatever its problem: name is a device or a
// file, as for Find.
func MachineOf(name string) (machine.Machine, error) {
	var l *Landscape
	var err error
	if strings.ContainsAny(name, "/.") {
		l, err = open(openFile, name)
	} else {
		file := ""
		for _, f := range Names() {
			if recorded, _, _ := strings.Cut(f, "_"); name != "" && strings.Contains(recorded, name) {
				file = f
				break
			}
		}
		if file == "" {
			return machine.Machine{}, fmt.Errorf("%w: no recording of a device %q; see tune devices", device.ErrMissing, name)
		}
		l, err = open(shipped.Open, "landscapes/"+file)
	}
	if err != nil {
		return machine.Machine{}, err
	}
	return New(l).Machine(), nil
}
