package stencil

import (
	"fmt"
	"testing"
)

func TestOutputPointsAreThoseOfOneOutput(t *testing.T) {
	s, err := Parse("two", "two.sl", "NumDimensions 1 StencilSize (2) Fields (u, v) ReadOnly (a) CellValue { float l = get(u, -1) + get(u, 1), r = get(v, 2) * get(a, 0); if (x > 3) { r = get(v, -2); } return l, r; }")
	if err != nil {
		t.Fatal(err)
	}
	for o, want := range []string{"[[[-1 0 0] [1 0 0]] [] []]", "[[] [[-2 0 0] [2 0 0]] [[0 0 0]]]"} {
		if got := fmt.Sprint(s.OutputPoints(0, o)); got != want {
			t.Errorf("output %d: %s, want %s", o, got, want)
		}
	}
}
