package stencil

import "math"

// Type is the type of an expression: an element type by its name, or one of the
// three below. Values of integer types are held in an int64; unsigned 64-bit ones
// by their bits.
type Type string

// Types that are no element types.
const (
	// Elem is the element type of a floating-point stencil, whichever the problem names.
	Elem Type = "T"
	// Bool is the type of a comparison.
	Bool Type = "bool"
	// Whole is the type of a literal without a point in a floating-point stencil: it
	// takes the type of the other operand.
	Whole Type = "whole"
)

// Floating tells floating-point types from integers and Bool.
func (t Type) Floating() bool { return t == Elem || t != Bool && t != Whole && DType(t).Floating() }

func (t Type) signed() bool { return t != Elem && t != Bool && DType(t).fact().signed }

// whole tells whether it is an integer type of so many bits.
func (t Type) whole() bool { return !t.Floating() && t != Bool && t != Whole }

// bits of an integer type.
func (t Type) bits() int {
	if t == Bool {
		return 1
	}
	return DType(t).fact().bits
}

// C is the type's name in generated code.
func (t Type) C() string {
	if t == Elem || t == Bool {
		return string(t)
	}
	return DType(t).C()
}

// promoted is the type in which a value enters arithmetic: as in C, integers
// narrower than int are computed in int.
func (t Type) promoted() Type {
	if t == Bool || t.whole() && t.bits() < 32 {
		return Type(Int32)
	}
	return t
}

// common is the type two operands are computed in: C's usual arithmetic conversions.
func common(a, b Type) Type {
	if a == Whole {
		a, b = b, a
	}
	if b == Whole {
		return a.promoted()
	}
	a, b = a.promoted(), b.promoted()
	switch {
	case a == b || a == Elem:
		return a
	case b == Elem:
		return b
	case a.Floating() != b.Floating():
		if a.Floating() {
			return a
		}
		return b
	case a.bits() != b.bits():
		if a.bits() > b.bits() {
			return a
		}
		return b
	case a.signed(): // same width: the unsigned one
		return b
	}
	return a
}

// wrap keeps the bits of v that fit the integer type t.
func (t Type) wrap(v int64) int64 {
	switch DType(t) {
	case Int8:
		return int64(int8(v))
	case Int16:
		return int64(int16(v))
	case Int32:
		return int64(int32(v))
	case Uint8:
		return int64(uint8(v))
	case Uint16:
		return int64(uint16(v))
	case Uint32:
		return int64(uint32(v))
	}
	return v
}

// limits are the smallest and largest value of an integer type, the largest of
// unsigned 64 bits by its bits.
func (t Type) limits() (low, high int64) {
	n := t.bits()
	switch {
	case DType(t) == Uint64:
		return 0, -1
	case t.signed():
		return -1 << (n - 1), 1<<(n-1) - 1
	}
	return 0, 1<<n - 1
}

// small tells whether it is an integer type of 8 or 16 bits.
func (t Type) small() bool { return t != Bool && !t.Floating() && t.bits() <= 16 }

// asFloat is the value of an integer of type t.
func (t Type) asFloat(v int64) float64 {
	if DType(t) == Uint64 {
		return float64(uint64(v))
	}
	return float64(v)
}

// fromFloat converts to an integer of type t: towards zero, to the nearest limit
// where it does not fit, and 0 for NaN.
func (t Type) fromFloat(v float64) int64 {
	low, high := t.limits()
	switch {
	case math.IsNaN(v):
		return 0
	case v <= t.asFloat(low):
		return low
	case v >= t.asFloat(high):
		return high
	case DType(t) == Uint64:
		return int64(uint64(v))
	}
	return int64(v)
}
