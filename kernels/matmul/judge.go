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
// order of the definition, and shares nothing with the families but the layout.
func Judge(p stencil.Problem) kernels.Kernel {
	s := space.Make("judge", nil, nil)
	text, entry := kernels.Source(p, s, nil, "matmul/judge.cu", judgeText)
	return kernels.Kernel{Schedule: s, Source: text, Entry: entry, DType: p.DType, Least: [3]int{1, 1, planes},
		Launch: kernels.Launch{Grid: kernels.Cover(flat(p).Size, judgeGroup, false), Block: judgeGroup, Steps: 1}}
}

// Reference is what a launch makes of a grid of elements, in float64.
func Reference(p stencil.Problem, in []float64) []float64 {
	nx, ny := p.Size[0], p.Size[1]
	plane := nx * ny
	a, b := in[:plane], in[plane:2*plane]
	out := append([]float64(nil), in...)
	for y := range ny {
		for x := range nx {
			sum := 0.0
			for k := range Depth(p) {
				sum += a[y*nx+k] * b[k*nx+x]
			}
			out[2*plane+y*nx+x] = sum
		}
	}
	return out
}
