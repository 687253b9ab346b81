package worker

import (
	"fmt"
	"testing"

	"stenciltune/device"
)

func TestBuiltKeepsTheNewest(t *testing.T) {
	b := newBuilt()
	const n = 20
	for i := range n {
		b.keep(fmt.Sprint(i), device.Binary{Image: make([]byte, keptBytes/8), CompileSeconds: 3})
		b.keep(fmt.Sprint(i), device.Binary{}) // is there already
	}
	for i := range n {
		found, ok := b.find(fmt.Sprint(i))
		if ok != (i >= n-8) || ok && (len(found.Image) != keptBytes/8 || found.CompileSeconds != 0) {
			t.Errorf("%d: found %v, %d bytes, %g s", i, ok, len(found.Image), found.CompileSeconds)
		}
	}
	b.keep("huge", device.Binary{Image: make([]byte, 2*keptBytes)})
	if _, ok := b.find("huge"); !ok || len(b.of) != 1 || len(b.order) != 1 {
		t.Errorf("one that is larger than all should be is not kept alone: %v", b.order)
	}
}
