package main

import (
	"stenciltune/internal/runner"
	"stenciltune/kernels"
	"stenciltune/kernels/all"
	"stenciltune/kernels/matmul"
	"stenciltune/stencil"
)

// familiesOf are the kernel families that compute a problem.
func familiesOf(p stencil.Problem) []kernels.Family {
	if matmul.Is(p) {
		return matmul.Families()
	}
	return all.Families()
}

// judgeOf is what answers are compared with where the stencils' reference does not
// know them, else nil.
func judgeOf(p stencil.Problem) *runner.Judge {
	if matmul.Is(p) {
		return &runner.Judge{Kernel: matmul.Judge, Tolerance: matmul.Tolerance}
	}
	return nil
}
