package stencil

import _ "embed"

//go:embed half.cu
var halfSource string

//go:embed bfloat16.cu
var bfloat16Source string

// TypeSource declares an element type that CUDA C++ does not have of itself; ""
// for the others. A 16-bit floating-point type is what is stored: arithmetic on it
// is arithmetic of float.
func TypeSource(d DType) string {
	switch d.Plain() {
	case Float16:
		return halfSource
	case BFloat16:
		return bfloat16Source
	}
	return ""
}
