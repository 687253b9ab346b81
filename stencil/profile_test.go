package stencil

import (
	"strings"
	"testing"
)

func TestArraysAreReadByIndexAndAlongAxes(t *testing.T) {
	head := "NumDimensions 2 StencilSize (1, 1) Fields (out) ReadOnly (u, dx[x], w[y], table) "
	for _, c := range []struct{ boundary, cell, want string }{
		{"clamp", "get(u, 1, 0) * get(dx, 0) + read(table, x + 2) + read(3)",
			"return ro_0(1, 0, 0) * read_1((long long)px) + read_3(wrap_add((long long)px, 2ll)) + read_4(3ll);\n"},
		{"clamp", "get(u, 0, 0) * get(dx, 1) + get(w, -1)",
			"return ro_0(0, 0, 0) * read_1(int_min(wrap_add((long long)px, 1ll), wrap_sub((long long)nx, 1ll))) + read_2(int_max(wrap_add((long long)py, (-1ll)), 0ll));\n"},
		{"wrap", "get(u, 0, 0) * get(w, 1)",
			"return ro_0(0, 0, 0) * read_2(wrap_add((long long)py, 1ll) < (long long)ny ? wrap_add((long long)py, 1ll) : wrap_sub(wrap_add((long long)py, 1ll), (long long)ny));\n"},
	} {
		s := mustParse(t, head+"Boundary "+c.boundary+" CellValue { return "+c.cell+"; }")
		if got := CellSource(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.cell, got, c.want)
		}
	}
	for cell, want := range map[string]string{
		"get(dx, x)":           "1:132: dx lies along x: get wants one offset from the own cell, known here and of 16 at most, like get(dx, 1)",
		"get(dx, 0, 0)":        `1:133: dx lies along x, so get takes one offset, found ","`,
		"get(u, 0, 0) + w":     `1:139: "w" is an array; read it with get(w, 0), at offsets from the own cell`,
		"read(v, 1)":           `1:129: want the name of a read-only array here, found "v"; declare it with ReadOnly (v)`,
		"get(dx, 0) + read(1)": "1:105: CellValue never calls get(), so there is nothing to tune",
	} {
		_, err := Parse("s", "s.sl", head+"                       CellValue { return "+cell+"; }")
		if err == nil {
			t.Errorf("%s: accepted", cell)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != "s.sl:"+want {
			t.Errorf("%s:\n got %s\nwant s.sl:%s", cell, got, want)
		}
	}
	if _, err := Parse("s", "s.sl", strings.Replace(head, "dx[x]", "dx[z]", 1)+"CellValue { return get(u, 0, 0); }"); err == nil || !strings.Contains(err.Error(), "dx lies along z, which 2 dimensions do not have") {
		t.Error(err)
	}
}

// rule is an array's beyond the side of an axis on which i lies.
func rule(a Array, axis, i int) Boundary { return a.Rules[axis][side(i)].Boundary }

func TestArraysAlongAxesFollowTheBoundaryRule(t *testing.T) {
	for _, b := range []Boundary{Clamp, Wrap, Mirror, Fixed, "constant 2", "x (clamp, mirror)"} {
		for _, n := range []Size{{5, 4, 1}, {1, 2, 1}, {2, 1, 1}, {3, 6, 1}, {4, 3, 1}} {
			s := mustParse(t, "NumDimensions 2 StencilSize (2, 2) Fields (out) ReadOnly (u, dx[x], w[y]) Boundary "+string(b)+
				" CellValue { float s = get(u, 0, 0); for (int k = -4; k <= 4; k++) s = 3 * s + get(dx, k) - 2 * get(w, -k); return s; }")
			p := Problem{Stencil: s, DType: Float64, Size: n}
			in := Start(p, 1)
			if got := in.ReadOnly[1].Len(); got != n[0] {
				t.Fatalf("dx has %d elements on %v", got, n)
			}
			var want []float64
			for y := range n[1] {
				for x := range n[0] {
					v := in.ReadOnly[0].Float[y*n[0]+x]
					for k := -4; k <= 4; k++ {
						v = 3*v + in.ReadOnly[1].Float[rule(s.ReadOnly[1], 0, x+k).index(x+k, n[0])] - 2*in.ReadOnly[2].Float[rule(s.ReadOnly[2], 1, y-k).index(y-k, n[1])]
					}
					want = append(want, v)
				}
			}
			nearly(t, Run(p, in, 1).Fields[0].Float, want)
			longer := in // elements beyond the grid are not read
			longer.ReadOnly = append([]Values(nil), in.ReadOnly...)
			longer.ReadOnly[1] = Values{Float: append(append([]float64(nil), in.ReadOnly[1].Float...), 1e9)}
			nearly(t, Run(p, longer, 1).Fields[0].Float, want)
		}
	}
}
