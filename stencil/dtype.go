package stencil

import "fmt"

// DType is the element type of a grid.
type DType string

// The element types.
const (
	Float32 DType = "float32"
	Float64 DType = "float64"
)

// DTypes lists every element type.
func DTypes() []DType { return []DType{Float32, Float64} }

// ParseDType reads an element type by our name, its short form or its C name.
func ParseDType(s string) (DType, error) {
	switch s {
	case "float32", "f32", "float":
		return Float32, nil
	case "float64", "f64", "double":
		return Float64, nil
	}
	return "", fmt.Errorf("unknown element type %q: use float32 or float64", s)
}

// Size is the bytes of one element.
func (d DType) Size() int {
	if d == Float64 {
		return 8
	}
	return 4
}

// C is the type's name in CUDA C.
func (d DType) C() string {
	if d == Float64 {
		return "double"
	}
	return "float"
}

// Short is the form used in benchmark names: f32, f64.
func (d DType) Short() string {
	if d == Float64 {
		return "f64"
	}
	return "f32"
}

// Epsilon is the distance from 1 to the next larger value.
func (d DType) Epsilon() float64 {
	if d == Float64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// Round gives the nearest value of the type.
func (d DType) Round(v float64) float64 {
	if d == Float32 {
		return float64(float32(v))
	}
	return v
}
