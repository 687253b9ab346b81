package stencil

import (
	"encoding/binary"
	"math"
)

// Widen gives elements of a type, in the machine's byte order, as float64. Integers
// beyond 2^53 lose their last digits.
func Widen(d DType, raw []byte) []float64 {
	size := d.Size()
	v := make([]float64, len(raw)/size)
	switch d { // those of nearly all checks, of which a search makes a hundred a second
	case Float32:
		for i := range v {
			v[i] = float64(math.Float32frombits(binary.NativeEndian.Uint32(raw[4*i:])))
		}
	case Float64:
		for i := range v {
			v[i] = math.Float64frombits(binary.NativeEndian.Uint64(raw[8*i:]))
		}
	default:
		for i := range v {
			v[i] = d.widen(raw[size*i : size*i+size])
		}
	}
	return v
}

// Widen gives an answer, the fields as they are stored one after the other and then what receivers recorded, as float64.
func (p Problem) Widen(raw []byte) (all []float64) {
	for f := range p.Stencil.Fields {
		n := p.Size.Cells() * int64(p.Stored(f).Size())
		all = append(all, Widen(p.Stored(f), raw[:n])...)
		raw = raw[n:]
	}
	return append(all, Widen(p.DType, raw)...)
}

// AnswerType is what part i of an answer is stored in: the fields, and then what each list of receivers recorded.
func (p Problem) AnswerType(i int) DType {
	if i < len(p.Stencil.Fields) {
		return p.Stored(i)
	}
	return p.DType
}

// widen gives one element.
func (d DType) widen(b []byte) float64 {
	order := binary.NativeEndian
	switch d.Plain() {
	case BFloat16:
		return float64(math.Float32frombits(uint32(order.Uint16(b)) << 16))
	case Float16:
		return half(order.Uint16(b))
	}
	var bits uint64
	switch len(b) {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(order.Uint16(b))
	case 4:
		bits = uint64(order.Uint32(b))
	default:
		bits = order.Uint64(b)
	}
	return Type(d).asFloat(Type(d).wrap(int64(bits)))
}

// Float16Bits is a number as a float16, which is stored so.
func Float16Bits(v float64) uint16 {
	v = Float16.Round(v)
	bits := uint16(0)
	if math.Signbit(v) {
		bits = 1 << 15
	}
	switch m, e := math.Frexp(math.Abs(v)); {
	case math.IsNaN(v):
		return 0x7e00
	case math.IsInf(v, 0):
		bits |= 0x7c00
	case m > 0 && e > -14: // normal: m is 1/2 to 1
		bits |= uint16(e+14)<<10 + uint16(m*2048) - 1024
	default:
		bits |= uint16(math.Ldexp(m, e+24))
	}
	return bits
}

// half is the value of an IEEE 754 binary16.
func half(b uint16) float64 {
	e, m := int(b>>10&31), float64(b&0x3ff)
	v := math.Ldexp(m, -24)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(m+1024, e-25)
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}
