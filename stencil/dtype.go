package stencil

import (
	"fmt"
	"math"
	"strings"
)

// DType is the element type of a grid.
type DType string

// The element types.
const (
	Float16  DType = "float16"
	BFloat16 DType = "bfloat16"
	Float32  DType = "float32"
	Float64  DType = "float64"
	Int8     DType = "int8"
	Int16    DType = "int16"
	Int32    DType = "int32"
	Int64    DType = "int64"
	Uint8    DType = "uint8"
	Uint16   DType = "uint16"
	Uint32   DType = "uint32"
	Uint64   DType = "uint64"

	// Float16x2 is stored as Float16, and may be computed so as well, two cells an instruction. (CUDA's PTX has the name.)
	Float16x2 DType = "float16x2"
)

// dtypeFact is what is known of an element type. The reserved C words that name
// it in a file (section 4.2 of the language's paper has int, int64, float, double,
// signed or unsigned) are in words.
type dtypeFact struct {
	d           DType
	short, c    string
	words       string // other names, separated by bars
	bits        int
	signed      bool // an integer that may be negative
	mantissa    int  // bits of the significand with its hidden one; 0 for integers
	minExponent int  // of the smallest normal number
}

var dtypeFacts = []dtypeFact{
	{Float32, "f32", "float", "float", 32, false, 24, -126},
	{Float64, "f64", "double", "double", 64, false, 53, -1022},
	{Float16, "f16", "float16", "half", 16, false, 11, -14},
	{Float16x2, "f16x2", "float16", "", 16, false, 11, -14},
	{BFloat16, "bf16", "bfloat16", "", 16, false, 8, -126},
	{Int8, "i8", "signed char", "char|signed char", 8, true, 0, 0},
	{Int16, "i16", "short", "short|signed short", 16, true, 0, 0},
	{Int32, "i32", "int", "int|signed|signed int", 32, true, 0, 0},
	{Int64, "i64", "long long", "long|long long|signed int64", 64, true, 0, 0},
	{Uint8, "u8", "unsigned char", "unsigned char|unsigned int8", 8, false, 0, 0},
	{Uint16, "u16", "unsigned short", "unsigned short|unsigned int16", 16, false, 0, 0},
	{Uint32, "u32", "unsigned", "unsigned|unsigned int|unsigned int32", 32, false, 0, 0},
	{Uint64, "u64", "unsigned long long", "unsigned long|unsigned long long|unsigned int64", 64, false, 0, 0},
}

func (d DType) fact() *dtypeFact {
	for i := range dtypeFacts { // no copy of each: arrays are filled element by element
		if dtypeFacts[i].d == d {
			return &dtypeFacts[i]
		}
	}
	return &dtypeFacts[0]
}

// Packed tells whether arithmetic may be that of the 16 bits in which elements are stored.
func (d DType) Packed() bool { return d == Float16x2 }

// Plain is the type of the elements as they are stored.
func (d DType) Plain() DType {
	if d.Packed() {
		return Float16
	}
	return d
}

// Computing is the element type stored as d that may be computed in another type: a narrower one than without, or that.
func (d DType) Computing(in DType) (DType, error) {
	switch plain := d.Plain(); {
	case in == plain && (in == Float32 || in == Float64), in == Float32 && d.Floating() && d.Size() == 2:
		return plain, nil
	case in == plain && in == Float16:
		return Float16x2, nil
	}
	return d, fmt.Errorf("%s is not computed in %s: float16 is in float32 or float16, bfloat16 in float32, other types in themselves", d, in)
}

// DTypes lists the element types that a stencil may be computed in: every
// floating-point type if its own is one, else its own. Only a weighted sum is computed in 16 bits.
func (s *Stencil) DTypes() []DType {
	if !s.DType.Floating() {
		return []DType{s.DType}
	}
	list := []DType{Float32, Float64, Float16, BFloat16}
	if _, _, ok := s.Linear(); ok {
		list = append(list, Float16x2)
	}
	return list
}

// ElementTypes lists every element type that a file names by one word.
func ElementTypes() []DType {
	var all []DType
	for _, f := range dtypeFacts {
		if !f.d.Packed() {
			all = append(all, f.d)
		}
	}
	return all
}

// JoinTypes is a list of types as messages have it.
func JoinTypes(types []DType) string {
	var names []string
	for _, d := range types {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// ParseDType reads an element type by our name, its short form or a C name.
func ParseDType(s string) (DType, error) {
	var names []string
	for _, f := range dtypeFacts {
		if s != "" && (s == string(f.d) || s == f.short || strings.Contains("|"+f.words+"|", "|"+s+"|") && !strings.Contains(s, "|")) {
			return f.d, nil
		}
		names = append(names, string(f.d))
	}
	return "", fmt.Errorf("unknown element type %q: use one of %s", s, strings.Join(names, ", "))
}

// Size is the bytes of one element.
func (d DType) Size() int { return d.fact().bits / 8 }

// C is the type's name in CUDA C.
func (d DType) C() string { return d.fact().c }

// Short is the form used in benchmark names: f32, f64, i8.
func (d DType) Short() string { return d.fact().short }

// Floating tells floating-point types from integers.
func (d DType) Floating() bool { return d.fact().mantissa > 0 }

// holds tells whether integers of the type have every value of another type.
func (d DType) holds(other DType) bool {
	a, b := d.fact(), other.fact()
	return !other.Floating() && (a.signed || !b.signed) && (a.bits > b.bits || a.bits == b.bits && a.signed == b.signed)
}

// Epsilon is the distance from 1 to the next larger value; 0 for integers, which are exact.
func (d DType) Epsilon() float64 {
	if !d.Floating() {
		return 0
	}
	return math.Ldexp(1, 1-d.fact().mantissa)
}

// largest is the largest finite value of a floating-point type.
func (d DType) largest() float64 {
	f := d.fact()
	return math.Ldexp(2-math.Ldexp(1, 1-f.mantissa), 1-f.minExponent)
}

// Round gives the nearest value of the type, ties to even; for integers what a
// conversion in a cell function gives.
func (d DType) Round(v float64) float64 {
	switch f := d.fact(); {
	case d == Float64:
		return v
	case d == Float32:
		return float64(float32(v))
	case f.mantissa == 0:
		return Type(d).asFloat(Type(d).fromFloat(v))
	case v == 0 || math.IsInf(v, 0) || math.IsNaN(v):
		return v
	default:
		_, e := math.Frexp(v)
		ulp := math.Ldexp(1, max(e, f.minExponent+1)-f.mantissa)
		r := math.RoundToEven(v/ulp) * ulp
		// The largest exponent of an IEEE format is 1 - its smallest.
		if limit := math.Ldexp(1, 2-f.minExponent); math.Abs(r) >= limit {
			return math.Inf(int(math.Copysign(1, v)))
		}
		return r
	}
}
