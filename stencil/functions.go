package stencil

import (
	"math"
	"strings"
)

// mathFunc is a function a cell may call. On floating-point arguments it has the
// same name in CUDA C, overloaded on the type.
type mathFunc struct {
	arity   int
	special bool // costs a special operation; the others count as one addition
	eval    func(a, b float64) float64
}

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

// one lifts a function of one argument.
func one(f func(float64) float64) func(a, b float64) float64 {
	return func(a, _ float64) float64 { return f(a) }
}

// mathFuncs are the functions a cell may call, by their name in C for double.
var mathFuncs = map[string]mathFunc{
	"sqrt":  {1, true, one(math.Sqrt)},
	"rsqrt": {1, true, one(func(x float64) float64 { return 1 / math.Sqrt(x) })},
	"cbrt":  {1, true, one(math.Cbrt)},
	"exp":   {1, true, one(math.Exp)},
	"exp2":  {1, true, one(math.Exp2)},
	"log":   {1, true, one(math.Log)},
	"log2":  {1, true, one(math.Log2)},
	"log10": {1, true, one(math.Log10)},
	"sin":   {1, true, one(math.Sin)},
	"cos":   {1, true, one(math.Cos)},
	"tan":   {1, true, one(math.Tan)},
	"asin":  {1, true, one(math.Asin)},
	"acos":  {1, true, one(math.Acos)},
	"atan":  {1, true, one(math.Atan)},
	"sinh":  {1, true, one(math.Sinh)},
	"cosh":  {1, true, one(math.Cosh)},
	"tanh":  {1, true, one(math.Tanh)},
	"pow":   {2, true, math.Pow},
	"atan2": {2, true, math.Atan2},
	"fmod":  {2, true, math.Mod},
	"fabs":  {1, false, one(math.Abs)},
	"floor": {1, false, one(math.Floor)},
	"ceil":  {1, false, one(math.Ceil)},
	"trunc": {1, false, one(math.Trunc)},
	"round": {1, false, one(math.Round)},
	"fmin":  {2, false, minimum},
	"fmax":  {2, false, maximum},
}

// choices are the functions that take integers as well, and what they are called
// for floating-point arguments.
var choices = map[string]string{"min": "fmin", "max": "fmax", "abs": "fabs"}

// functionName gives the name in mathFuncs or choices of a function as a file
// calls it; C's names for float end in f.
func functionName(name string) (string, bool) {
	for _, n := range []string{name, strings.TrimSuffix(name, "f")} {
		if _, ok := mathFuncs[n]; ok {
			return n, true
		}
	}
	_, ok := choices[name]
	return name, ok
}
