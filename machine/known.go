package machine

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Known are the facts of a device that need not be here, for predictions.
type Known struct {
	ID      string  `json:"id"`     // "a100"
	Source  string  `json:"source"` // of the facts
	Machine Machine `json:"machine"`
}

//go:embed known.json
var knownFile []byte

// KnownDevices are all whose facts ship with the program.
func KnownDevices() []Known {
	var list []Known
	if err := json.Unmarshal(knownFile, &list); err != nil {
		panic("machine: known.json: " + err.Error())
	}
	for i := range list {
		m := &list[i].Machine
		m.Kind = Model
		// The same on every device since compute capability 7.0 (CUDA C++ programming
		// guide, technical specifications).
		m.WarpSize, m.MaxThreadsBlock = 32, 1024
		m.MaxBlockDim, m.MaxGridDim = [3]int{1024, 1024, 64}, [3]int{math.MaxInt32, 65535, 65535}
		m.RegistersBlock, m.RegistersSM, m.SharedBlock = 65536, 65536, 48<<10
	}
	return list
}

// FindKnown gives the facts of a device by its ID. The error names all there are.
func FindKnown(id string) (Known, error) {
	var ids []string
	for _, k := range KnownDevices() {
		if k.ID == strings.ToLower(id) {
			return k, nil
		}
		ids = append(ids, k.ID)
	}
	return Known{}, fmt.Errorf("no facts of a device %q; there are: %s", id, strings.Join(ids, ", "))
}
