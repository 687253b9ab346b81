package replay

import (
	"fmt"
	"io"
	"os"
	"strings"

	"stenciltune/device"
	"stenciltune/machine"
)

// MachineOf is the machine of a recording, whatever its problem: name is a device or a
// file, as for Find.
func MachineOf(name string) (machine.Machine, error) {
	open := func() (io.ReadCloser, error) { return os.Open(name) }
	if !strings.ContainsAny(name, "/.") {
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
		open = func() (io.ReadCloser, error) { return shipped.Open("landscapes/" + file) }
	}
	f, err := open()
	if err != nil {
		return machine.Machine{}, fmt.Errorf("%w: landscape: %w", device.ErrMissing, err)
	}
	defer f.Close()
	l, err := Read(f)
	if err != nil {
		return machine.Machine{}, fmt.Errorf("%s: %w", name, err)
	}
	return New(l).Machine(), nil
}
