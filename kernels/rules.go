package kernels

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"stenciltune/stencil"
)

//go:embed mixed.cu
var mixedText string

// ruleNames are the boundary rules in a kernel's text.
var ruleNames = map[stencil.Boundary]string{
	stencil.Clamp: "CLAMP", stencil.Mirror: "MIRROR", stencil.Wrap: "WRAP", stencil.Constant: "CONSTANT", stencil.Fixed: "FIXED", stencil.Edge: "EDGE_VALUE",
}

// rules writes which boundary rules hold.
func (w *writer) rules() {
	st := w.p.Stencil
	w.line("enum Boundary { CLAMP, MIRROR, WRAP, CONSTANT, FIXED, EDGE_VALUE }; // what lies outside the grid")
	if st.Boundary != stencil.Mixed {
		w.line("constexpr Boundary BOUNDARY = %s;", ruleNames[st.Boundary])
		return
	}
	var cases, wraps, some, apart strings.Builder
	all, has := true, map[string]bool{}
	for axis := range st.Dims {
		all = all && st.Wraps(axis)
		if st.Wraps(axis) {
			fmt.Fprintf(&wraps, "axis == %d || ", axis)
		}
		if st.MirrorsApart(axis) {
			fmt.Fprintf(&apart, "axis == %d || ", axis)
		}
	}
	for i, a := range slices.Concat(st.Fields, st.ReadOnly) {
		for axis := range st.Dims {
			for side, r := range a.Rules[axis] {
				name := ruleNames[r.Boundary]
				if r.Boundary != stencil.Clamp {
					fmt.Fprintf(&cases, "array == %d && axis == %d && side == %d ? %s : ", i, axis, side, name)
				}
				if !has[name] {
					has[name] = true
					fmt.Fprintf(&some, "b == %s || ", name)
				}
			}
		}
	}
	w.line("// The rule of an array beyond the low (0) or the high side (1) of an axis.")
	w.line("__host__ __device__ constexpr Boundary rule(int array, int axis, int side) { return %sCLAMP; }", cases.String())
	w.line("__host__ __device__ constexpr bool wraps(int axis) { return %sfalse; } // whether the grid repeats there", wraps.String())
	w.line("__host__ __device__ constexpr bool some(Boundary b) { return %sfalse; } // whether it is the rule of some side", some.String())
	if MirrorsApart(st) {
		w.line("__host__ __device__ constexpr bool mirrors_apart(int axis) { return %sfalse; } // whether some arrays are mirrored there and others are not", apart.String())
	}
	w.line("constexpr bool WRAPS_ALL = %t; // on all axes", all)
	rows := st.Dims == 3 && slices.ContainsFunc(st.Fields, func(f stencil.Array) bool {
		return slices.ContainsFunc(f.Rules[1][:], func(r stencil.Rule) bool {
			return r.Boundary == stencil.Constant || r.Boundary == stencil.Edge || r.Boundary == stencil.Fixed
		})
	})
	w.line("constexpr bool WRAPS_ROWS = %t; // in a plane of the streaming axis", st.Wraps(0) || st.Dims == 3 && st.Wraps(1))
	w.line("constexpr bool EDGES_ON_ROWS = %t; // more than another cell lies beyond the first or last row of a plane", rows)
	w.line("constexpr bool ONE_CONSTANT = false; // what lies outside has values of its own, by array, axis and side:")
	w.line("constexpr bool VALUES_IN_PLANE = %t, VALUES_AT_ENDS = %t; // beyond a plane's sides, beyond the first or last plane", hasValues(st, 0) || st.Dims == 3 && hasValues(st, 1), st.Dims > 1 && hasValues(st, st.Dims-1))
	w.line("constexpr bool CONSTANT_ALONE = %t; // of the rules that give a value of their own", st.Has(stencil.Constant) && !st.Has(stencil.Edge))
}

// hasValues tells whether what lies beyond a side of an axis has a value of its own, of some field.
func hasValues(st *stencil.Stencil, axis int) bool {
	return slices.ContainsFunc(st.Fields, func(f stencil.Array) bool {
		return slices.ContainsFunc(f.Rules[axis][:], func(r stencil.Rule) bool {
			return r.Boundary == stencil.Constant || r.Boundary == stencil.Edge
		})
	})
}

// commonPieces are the text that all families share, with the functions of mixed.cu in place of those that know one rule.
func (w *writer) commonPieces() []Piece {
	const file = "kernels/common.cu"
	if w.p.Stencil.Boundary != stencil.Mixed {
		return []Piece{{File: file, Text: common}}
	}
	before, rest, one := strings.Cut(common, "// Without branches:")
	_, after, two := strings.Cut(rest, "__device__ __forceinline__ index_t cell_index")
	if !one || !two {
		panic("kernels: common.cu has no part that knows one boundary rule")
	}
	line := strings.Count(common[:len(common)-len(after)], "\n") + 1
	return []Piece{{File: file, Text: before}, {File: "kernels/mixed.cu", Text: mixedText},
		{File: file, Line: line, Text: "__device__ __forceinline__ index_t cell_index" + after}}
}

// mixedValue writes what a point outside is worth by rules that differ: the first axis on which the rule names no cell says it.
func (w *writer) mixedValue() {
	st := w.p.Stencil
	w.line("  if (array >= FIELDS || in_grid(grid, x, y, z)) return nearest;")
	for f := range st.Fields {
		for axis := range st.Dims {
			at, n := "xyz"[axis:axis+1], "grid.n"+"xyz"[axis:axis+1]
			for side, r := range st.Fields[f].Rules[axis] {
				value := ""
				switch r.Boundary {
				case stencil.Constant:
					value = fmt.Sprintf("T(%s)", stencil.Number(w.p.DType, r.Constant))
				case stencil.Edge:
					value = fmt.Sprintf("edge_%d(grid, nearest, settled<0>(%[1]d, x, grid.nx), settled<1>(%[1]d, y, grid.ny), settled<2>(%[1]d, z, grid.nz), iteration)", f)
				default:
					continue
				}
				asked := ""
				if axis == st.Dims-1 && axis > 0 { // a row is not streamed through
					asked = "ends && "
				}
				w.line("  if (%sarray == %d && %s) return %s;", asked, f, [2]string{at + " < 0", at + " >= " + n}[side], value)
			}
		}
	}
	w.line("  return nearest;")
}

// keeps writes whether a cell of a field keeps its value in a stage.
func (w *writer) keeps(stage *stencil.Stage) {
	st := w.p.Stencil
	if st.Boundary != stencil.Mixed {
		return
	}
	w.line("// Whether a cell of a field keeps its value, near an edge where the field's rule is fixed.")
	w.line("__device__ __forceinline__ bool keeps(int field, const Grid &grid, int px, int py, int pz) {")
	for _, f := range stage.Outputs {
		if near := nearFixed(st.Fields[f]); near != "" {
			w.line("  if (field == %d) return %s;", f, strings.TrimPrefix(near, "EDGE && "))
		}
	}
	w.line("  return false;\n}")
}

// nearFixed is the condition that a cell of a field keeps its value, near sides where its rule is fixed; "" if none does.
func nearFixed(f stencil.Array) string {
	var list []string
	for axis, sides := range f.Rules {
		at, of := "p"+"xyz"[axis:axis+1], strings.ToUpper("xyz"[axis:axis+1])
		if sides[0].Boundary == stencil.Fixed {
			list = append(list, fmt.Sprintf("%s < LOW_%s", at, of))
		}
		if sides[1].Boundary == stencil.Fixed {
			list = append(list, fmt.Sprintf("%s >= grid.n%s - HIGH_%s", at, at[1:], of))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "EDGE && (" + strings.Join(list, " || ") + ")"
}
