package cuda

import (
	"runtime"
	"unsafe"
)

// cStrings is an array of C strings that stays where it is until freed.
type cStrings struct {
	pinner runtime.Pinner
	table  []unsafe.Pointer
}

func newStrings(list []string) *cStrings {
	c := &cStrings{table: make([]unsafe.Pointer, len(list)+1)}
	for i, s := range list {
		b := append([]byte(s), 0)
		c.pinner.Pin(&b[0])
		c.table[i] = unsafe.Pointer(&b[0])
	}
	c.pinner.Pin(&c.table[0])
	return c
}

// address is the array's; it ends with a null pointer.
func (c *cStrings) address() uintptr { return uintptr(unsafe.Pointer(&c.table[0])) }

func (c *cStrings) free() { c.pinner.Unpin() }
