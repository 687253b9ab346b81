package matmul

import (
	_ "embed"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

//go:embed judge.cu
var judgeText string

// judgeGroup is the judge's group shape.
var judgeGroup = [3]int{32, 8, 1}

// Judge is the kernel that others are compared with: it adds up in float64, in the
// order of the definition, and shares nothing with the families but the matrices' places.
func Judge(p stencil.Problem) kernels.Kernel {
	k := source(p, space.Make("judge", nil, nil), nil, "judge.cu", judgeText)
	k.Launch = kernels.Launch{Grid: kernels.Cover(p.Size, judgeGroup, false), Block: judgeGroup, Steps: 1}
	return k
}

// Reference is the product of a and b in float64.
func Reference(p stencil.Problem, a, b []float64) []float64 {
	nx, ny := p.Size[0], p.Size[1]
	c := make([]float64, nx*ny)
	for y := range ny {
		for x := range nx {
			for k := range Depth(p) {
				c[y*nx+x] += a[y*nx+k] * b[k*nx+x]
			}
		}
	}
	return c
}
