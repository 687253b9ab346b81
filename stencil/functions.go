package stencil

import (
	"math"
	"strings"
)

// mathFunc is a function a cell may call. On floating-point arguments it has the
// same name in CUDA C, overloaded on the type.
type mathFunc struct {
	arity int
	// Instructions in float and in double on the way that most arguments take, read off the machine code of NVRTC 11.8 for
	// sm_90, roots off that of arithmetic.cu; 0 = one, like an addition. In double those of other units count a third: they
	// are issued beside double-precision operations.
	instructions [2]int
	eval         func(a, b float64) float64
}

// special tells whether it costs a special operation; the others count as an addition.
func (f mathFunc) special() bool { return f.instructions[0] > 0 }

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
	"sqrt":  {1, [2]int{5, 8}, one(math.Sqrt)},
	"rsqrt": {1, [2]int{5, 8}, one(func(x float64) float64 { return 1 / math.Sqrt(x) })},
	"cbrt":  {1, [2]int{15, 21}, one(math.Cbrt)},
	"exp":   {1, [2]int{10, 32}, one(math.Exp)},
	"exp2":  {1, [2]int{5, 33}, one(math.Exp2)},
	"log":   {1, [2]int{25, 47}, one(math.Log)},
	"log2":  {1, [2]int{25, 53}, one(math.Log2)},
	"log10": {1, [2]int{25, 53}, one(math.Log10)},
	"sin":   {1, [2]int{25, 31}, one(math.Sin)},
	"cos":   {1, [2]int{25, 31}, one(math.Cos)},
	"tan":   {1, [2]int{35, 51}, one(math.Tan)},
	"asin":  {1, [2]int{50, 67}, one(math.Asin)},
	"acos":  {1, [2]int{50, 74}, one(math.Acos)},
	"atan":  {1, [2]int{35, 45}, one(math.Atan)},
	"sinh":  {1, [2]int{35, 57}, one(math.Sinh)},
	"cosh":  {1, [2]int{22, 34}, one(math.Cosh)},
	"tanh":  {1, [2]int{21, 56}, one(math.Tanh)},
	"pow":   {2, [2]int{110, 150}, math.Pow},
	"atan2": {2, [2]int{60, 100}, math.Atan2},
	"fmod":  {2, [2]int{50, 60}, math.Mod},
	"fabs":  {1, [2]int{}, one(math.Abs)},
	"floor": {1, [2]int{}, one(math.Floor)},
	"ceil":  {1, [2]int{}, one(math.Ceil)},
	"trunc": {1, [2]int{}, one(math.Trunc)},
	"round": {1, [2]int{}, one(math.Round)},
	"fmin":  {2, [2]int{}, minimum},
	"fmax":  {2, [2]int{}, maximum},
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
