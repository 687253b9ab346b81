// Package reduce writes the kernel that computes a stencil's Reduce: a number from
// all cells after a time step, by which Until ends a run.
//
// It is no family: nothing of it is tuned. A launcher that runs a program with Until
// steps with a tuned kernel, at most Until.Every steps between two looks,
// and then runs this kernel once, on the fields before and after the last step:
//
//	for (step = 0; step < steps; ) {
//	  ...                                  // launches that advance Until.Every steps, the last alone where Before; step += every
//	  reduce<<<blocks, threads>>>(before..., after..., (T *)partial, read-only arrays..., nx, ny, nz, step, scalars...);
//	  cudaMemcpy(host, partial, 8 * blocks, cudaMemcpyDeviceToHost);
//	  fold host[0] ... host[blocks - 1] in order with +, min or max; leave if it compares as Until says
//	}
//
// The launcher of package emit does so, and keeps what Overwritten lists.
//
// A number is computed from cells in the element type, 16-bit ones rounded to it, and
// folded in double.
package reduce

import (
	_ "embed"
	"slices"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

//go:embed reduce.cu
var source string

// operations are the numbers of reduce.cu's enum Operation.
var operations = map[string]int{"sum": 0, "min": 1, "max": 2}

// Kernel is the reduction of a problem whose stencil has Reduce. Its parameters are
// kernels.Arguments(p.Stencil.Reduction(), 0, 1): every field before the step, every
// field after it, and as output an array of Launch.Blocks() doubles, which is passed
// where the element type is written; Iteration is the number of the step. It has one
// launch, which advances no step.
func Kernel(p stencil.Problem) kernels.Kernel {
	operation := operations[p.Stencil.Reduce.Op]
	p.Stencil = p.Stencil.Reduction()
	s := space.Make("reduce", []space.Param{{Name: "gx"}}, []int{kernels.FoldThreads})
	k := kernels.Source(p, s, nil, []kernels.Constant{
		{Name: "THREADS", Value: kernels.FoldThreads, Doc: "of a block"}, {Name: "OPERATION", Value: operation, Doc: "of enum Operation"},
	}, kernels.Piece{File: "kernels/reduce/reduce.cu", Text: source})
	k.Launch = kernels.Launch{Grid: [3]int{kernels.FoldBlocks(p.Size.Cells()), 1, 1}, Block: [3]int{kernels.FoldThreads, 1, 1}}
	return k
}

// Before tells whether a stencil's Reduce reads fields as they were before the step:
// then the step before a look must be launched alone, for fused steps leave no trace.
func Before(st *stencil.Stencil) bool { return len(before(st)) > 0 }

// before lists the fields that Reduce reads as they were before the step.
func before(st *stencil.Stencil) []int {
	var list []int
	for f, points := range st.Reduction().Stages[0].Points[:len(st.Fields)] {
		if len(points) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// Overwritten lists the fields that Reduce reads as they were before the step and that
// more than one stage sets. Where a stage writes into the array that its field was in
// before the stage that set it last, the second one writes over what Reduce reads: a
// launcher that launches the stages one by one copies these fields before the step.
func Overwritten(st *stencil.Stencil) []int {
	return slices.DeleteFunc(before(st), func(f int) bool {
		setters := 0
		for _, stage := range st.Stages {
			if slices.Contains(stage.Outputs, f) {
				setters++
			}
		}
		return setters < 2
	})
}
