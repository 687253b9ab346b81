package stencil

import (
	"math"
	"slices"
	"strings"
)

// mathFunc is a function a cell may call. On floating-point arguments it has the
// same name in CUDA C, overloaded on the type.
type mathFunc struct {
	arity int
	eval  func(a, b float64) float64
}

// Specials are the functions that count as special operations; the others count as an addition. What each takes on a
// GPU is known by kernels.Counts.
var Specials = [...]string{
	"sqrt", "rsqrt", "cbrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "pow", "atan2", "fmod",
}

// Calls counts the calls of each of them.
type Calls [len(Specials)]int

// special is the place of a function among Specials, -1 if it is none.
func special(name string) int { return slices.Index(Specials[:], name) }

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
	"sqrt":  {1, one(math.Sqrt)},
	"rsqrt": {1, one(func(x float64) float64 { return 1 / math.Sqrt(x) })},
	"cbrt":  {1, one(math.Cbrt)},
	"exp":   {1, one(math.Exp)},
	"exp2":  {1, one(math.Exp2)},
	"log":   {1, one(math.Log)},
	"log2":  {1, one(math.Log2)},
	"log10": {1, one(math.Log10)},
	"sin":   {1, one(math.Sin)},
	"cos":   {1, one(math.Cos)},
	"tan":   {1, one(math.Tan)},
	"asin":  {1, one(math.Asin)},
	"acos":  {1, one(math.Acos)},
	"atan":  {1, one(math.Atan)},
	"sinh":  {1, one(math.Sinh)},
	"cosh":  {1, one(math.Cosh)},
	"tanh":  {1, one(math.Tanh)},
	"pow":   {2, math.Pow},
	"atan2": {2, math.Atan2},
	"fmod":  {2, math.Mod},
	"fabs":  {1, one(math.Abs)},
	"floor": {1, one(math.Floor)},
	"ceil":  {1, one(math.Ceil)},
	"trunc": {1, one(math.Trunc)},
	"round": {1, one(math.Round)},
	"fmin":  {2, minimum},
	"fmax":  {2, maximum},
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
