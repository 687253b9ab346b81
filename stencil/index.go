package stencil

import (
	"maps"
	"slices"
)

// A polynomial maps the product of variables (sorted, a letter each) to its factor.
type polynomial map[string]int64

// maxTerms bounds a polynomial: the own index has three terms.
const maxTerms = 16

// isOwnIndex tells whether an index is that of the own cell in the grid, x
// fastest, however it is written: y * input_size.x + x in two dimensions.
func isOwnIndex(e Expr, dims int) bool {
	own := []polynomial{{"x": 1}, {"x": 1, "Xy": 1}, {"x": 1, "Xy": 1, "XYz": 1}}[dims-1]
	got, ok := expand(e, 0)
	return ok && maps.Equal(got, own)
}

// expand gives an index as a polynomial of x, y, z, the extents X, Y, Z and the
// iteration i.
func expand(e Expr, depth int) (polynomial, bool) {
	if depth > 16 {
		return nil, false
	}
	switch e := e.(type) {
	case Int:
		return polynomial{"": e.Value}, true
	case Var:
		switch e.Kind {
		case Position:
			return polynomial{"xyz"[e.Index : e.Index+1]: 1}, true
		case Extent:
			return polynomial{"XYZ"[e.Index : e.Index+1]: 1}, true
		case Iteration:
			return polynomial{"i": 1}, true
		}
	case Binary:
		a, okA := expand(e.X, depth+1)
		b, okB := expand(e.Y, depth+1)
		if !okA || !okB || len(a)*len(b) > maxTerms {
			return nil, false
		}
		sum := polynomial{}
		switch e.Op {
		case "+", "-":
			maps.Copy(sum, a)
			for k, v := range b {
				if e.Op == "-" {
					v = -v
				}
				sum[k] += v
			}
		case "*":
			for k, v := range a {
				for l, w := range b {
					sum[sorted(k+l)] += v * w
				}
			}
		default:
			return nil, false
		}
		maps.DeleteFunc(sum, func(_ string, v int64) bool { return v == 0 })
		return sum, true
	}
	return nil, false
}

// sorted puts the letters of a product in order.
func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}
