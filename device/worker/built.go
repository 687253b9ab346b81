package worker

import (
	"sync"

	"stenciltune/device"
)

// keptBytes is the images that are kept, together; the oldest go first. Schedules of one
// source follow each other closely, and finals ask again for a search's best.
const keptBytes = 256 << 20

// built keeps what was compiled, by source: schedules that differ in their launch alone
// share it, and NVRTC, which keeps compiled kernels itself since CUDA 12.9, takes a tenth
// of a second to tell.
type built struct {
	mu    sync.Mutex
	of    map[string]device.Binary
	order []string // of sources, the oldest first
	bytes int
}

func newBuilt() *built { return &built{of: map[string]device.Binary{}} }

// find gives a source's binary, compiled in no time.
func (b *built) find(source string) (device.Binary, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.of[source]
	found.CompileSeconds = 0
	return found, ok
}

// keep files a binary, unless its source is there already.
func (b *built) keep(source string, binary device.Binary) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.of[source]; ok {
		return
	}
	b.of[source] = binary
	b.order = append(b.order, source)
	for b.bytes += len(binary.Image); b.bytes > keptBytes && len(b.order) > 1; b.order = b.order[1:] {
		b.bytes -= len(b.of[b.order[0]].Image)
		delete(b.of, b.order[0])
	}
}
