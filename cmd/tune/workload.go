package main

import (
	"stenciltune/internal/runner"
	"stenciltune/kernels/matmul"
	"stenciltune/stencil"
)

// judgeOf is what answers are compared with where the stencils' reference does not
// know them, else nil.
func judgeOf(p stencil.Problem) *runner.Judge {
	if matmul.Is(p) {
		return &runner.Judge{Kernel: matmul.Judge, Tolerance: matmul.Tolerance}
	}
	return nil
}
