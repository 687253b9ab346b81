package stencil

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// powerKind is how a power is computed on a GPU.
type powerKind int

const (
	anyPower        powerKind = iota // by pow
	wholePower                       // by products, of an exponent of 2 to 16, or -1 to -16 with a reciprocal
	halfPower                        // by a root and products, of half of an odd number
	fractionalPower                  // by an exponential of a logarithm, in float: what is below 0 has none
)

// power tells how a call of pow is computed, and its exponent, if that is a number.
func power(e Call) (kind powerKind, y float64) {
	if e.Func != "pow" {
		return anyPower, 0
	}
	y, ok := number(e.Args[1])
	switch whole := y == math.Trunc(y); {
	case !ok || !finite(y):
		return anyPower, 0
	case whole && y != 0 && y != 1 && math.Abs(y) <= 16:
		return wholePower, y
	case whole:
		return anyPower, y
	case 2*y == math.Trunc(2*y) && math.Abs(y) < 16:
		return halfPower, y
	}
	return fractionalPower, y
}

// number is the value of a floating-point expression that is made of numbers alone, computed in double.
func number(e Expr) (v float64, ok bool) {
	if !e.typ().Floating() || !numbers(e) {
		return 0, false
	}
	return (&evaluation{r: &run{}}).float(e)(), true
}

// numbers tells whether an expression is made of numbers alone. Of a long sum, whose parts are all asked, the last term tells.
func numbers(e Expr) bool {
	switch e := e.(type) {
	case Num, Int:
		return true
	case Cast:
		return numbers(e.X)
	case Neg:
		return numbers(e.X)
	case Binary:
		return numbers(e.Y) && numbers(e.X)
	case Call:
		return !slices.ContainsFunc(e.Args, func(a Expr) bool { return !numbers(a) })
	}
	return false
}

// powerCode is ArithmeticSource's function for a power and what it is called with; "" of any other.
func powerCode(e Call) (name string, args []Expr) {
	switch kind, y := power(e); kind {
	case wholePower:
		return fmt.Sprintf("whole_power<%d>", int(y)), e.Args[:1]
	case halfPower:
		return fmt.Sprintf("half_power<%d>", int(2*y)), e.Args[:1]
	case fractionalPower:
		return "power", e.Args
	}
	return "", nil
}

// powerOps are the operations of a power; false of any other.
func powerOps(e Call, double bool) (o Ops, ok bool) {
	kind, y := power(e)
	products := func(n uint) int { return max(0, bits.Len(n)-1+bits.OnesCount(n)-1) }
	switch {
	case kind == wholePower:
		o.Mul = products(uint(math.Abs(y)))
		if y < 0 {
			o.Div = 1
		}
	case kind == halfPower:
		o.Special, o.Calls[special("sqrt")] = 1, 1
		if n := uint(math.Abs(y)); n > 0 {
			o.Mul = products(n) + 1
			if y < 0 {
				o.Div = 1
			}
		}
	case kind == fractionalPower && !double:
		o.Special, o.Calls[special("exp")] = 2, 2
	default:
		return o, false
	}
	return o, true
}

// powerUnits are the units of error that a power of x is granted.
func powerUnits(e Call, double bool) func(x, y float64) float64 {
	kind, _ := power(e)
	divided := func(y float64) float64 {
		if y <= -1 {
			return quotientUnits
		}
		return 0
	}
	switch {
	case kind == wholePower:
		return func(x, y float64) float64 { return math.Abs(y) + divided(y) }
	case kind == halfPower:
		return func(x, y float64) float64 { return rootUnits + math.Abs(y) + 1 + divided(y) }
	case kind == fractionalPower && !double:
		return func(x, y float64) float64 {
			return functionUnits + logarithmUnits*math.Abs(y)*(1+math.Abs(math.Log2(x)))
		}
	}
	return func(x, y float64) float64 { return powUnits }
}
