//go:build race

package stencil

// slower is how much more time the race detector is granted.
const slower = 10
