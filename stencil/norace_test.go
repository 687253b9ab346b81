//go:build !race

package stencil

const slower = 1
