package stencil

import "math"

// minimum and maximum are C's fmin and fmax: NaN is a missing value there.
func minimum(a, b float64) float64 {
	if a < b || math.IsNaN(b) {
		return a
	}
	return b
}

func maximum(a, b float64) float64 {
	if a > b || math.IsNaN(b) {
		return a
	}
	return b
}

// mathFuncs are the functions a cell may call. In CUDA C the names are the same
// and overloaded on the element type.
var mathFuncs = map[string]mathFunc{
	"sqrt": {1, true, func(a, _ float64) float64 { return math.Sqrt(a) }},
	"fabs": {1, false, func(a, _ float64) float64 { return math.Abs(a) }},
	"exp":  {1, true, func(a, _ float64) float64 { return math.Exp(a) }},
	"log":  {1, true, func(a, _ float64) float64 { return math.Log(a) }},
	"fmin": {2, false, minimum},
	"fmax": {2, false, maximum},
}
