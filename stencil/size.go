package stencil

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a grid's extent on x, y, z in cells; unused axes are 1. x is the fastest.
type Size [3]int

// Cells is the number of cells.
func (s Size) Cells() int64 { return int64(s[0]) * int64(s[1]) * int64(s[2]) }

// Text cuts trailing axes: the text of a size in a grid of that many dimensions.
func (s Size) Text(dims int) string {
	parts := make([]string, dims)
	for i := range parts {
		parts[i] = strconv.Itoa(s[i])
	}
	return strings.Join(parts, "x")
}

// maxExtent is the longest axis: block and cell indices of one axis stay in int32.
const maxExtent = math.MaxInt32 / 2

// ParseSize reads "512x512x512" for a grid of dims dimensions. The cells of the
// grid must be countable in an int64 of bytes.
func ParseSize(text string, dims int) (Size, error) {
	size := Size{1, 1, 1}
	parts := strings.Split(text, "x")
	if len(parts) != dims {
		return size, fmt.Errorf("size %q: want %d extents joined by x, like %s", text, dims, strings.TrimSuffix(strings.Repeat("512x", dims), "x"))
	}
	cells := int64(1)
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || p[0] == '+' {
			return size, fmt.Errorf("size %q: extent %q on %c is not a whole number; write it like 512", text, p, "xyz"[i])
		}
		if n < 1 || n > maxExtent {
			return size, fmt.Errorf("size %q: extent %s on %c must lie in 1..%d", text, p, "xyz"[i], maxExtent)
		}
		if cells > math.MaxInt64/64/n {
			return size, fmt.Errorf("size %q: too many cells to address; make it smaller", text)
		}
		cells *= n
		size[i] = int(n)
	}
	return size, nil
}
