package emit

import (
	"fmt"
	"slices"

	"stenciltune/stencil"
)

// reach is how many planes a wrong value travels along the outermost axis in a time step: the stages' reaches, added.
func reach(st *stencil.Stencil) (planes int) {
	for i := range st.Stages {
		most := 0
		for _, points := range st.Stages[i].Points {
			for _, o := range points {
				most = max(most, o[st.Dims-1], -o[st.Dims-1])
			}
		}
		planes += most
	}
	return planes
}

// whole tells why a grid cannot be cut into slabs that are computed apart, if so.
func whole(st *stencil.Stencil) string {
	axis := st.Dims - 1
	switch {
	case axis == 0:
		return "its grid has one axis"
	case st.Until != nil:
		return "Until looks at the whole grid"
	case len(st.StepScalars) > 0:
		return "a step scalar is computed from the whole grid"
	case slices.ContainsFunc(st.Sparse, func(a stencil.Sparse) bool { return a.Low[axis] > 0 || a.High[axis] > 0 }):
		return fmt.Sprintf("receivers read beside their own cells along %c", "xyz"[axis])
	case st.Places(axis):
		return fmt.Sprintf("a cell's value depends on its place along %c, or on the extent there", "xyz"[axis])
	}
	return ""
}

// Ghost is the head of the function that says how deep ghost zones are.
func (e exports) Ghost() string { return fmt.Sprintf("int %sGhost(int iterations)", e.Name) }

// Slab is the head of the function that advances a slab.
func (e exports) Slab() string {
	return fmt.Sprintf("int %sSlab(%s)", e.Name, signature(append(e.slab(true), e.result(), parameter{"void *", "stream"})))
}

// SlabWork is the head of the function that says what memory the next one needs.
func (e exports) SlabWork() string {
	return fmt.Sprintf("long long %sSlabWork(%s)", e.Name, signature(append(slices.Clone(e.Plane()), parameter{"int", "iterations"})))
}

// SlabEdges is the head of the function that computes what a slab's neighbours need.
func (e exports) SlabEdges() string {
	list := append(e.slab(false), parameter{"void *", "work"}, parameter{e.Cell + " **", "edges"}, parameter{"void *", "stream"})
	return fmt.Sprintf("int %sSlabEdges(%s)", e.Name, signature(list))
}

// SlabInside is the head of the function that computes the rest.
func (e exports) SlabInside() string {
	list := append(e.slab(true), parameter{e.Cell + " *const *", "edges"}, e.result(), parameter{"void *", "stream"})
	return fmt.Sprintf("int %sSlabInside(%s)", e.Name, signature(list))
}

// slab is the parameters that they share.
func (e exports) slab(scratch bool) []parameter {
	list := slices.Concat(e.arrays(scratch), e.lists(), e.shape(), []parameter{{"int", "below"}, {"int", "above"}, {"int", "iterations"}})
	if e.Iterates {
		list = append(list, parameter{"int", "first"})
	}
	return append(list, e.scalars()...)
}

// slabHeads are the functions on slabs; none if the grid cannot be cut.
func (e exports) slabHeads() []string {
	if e.Whole != "" {
		return nil
	}
	if len(e.Lists) > 0 { // their places are counted from the slab's first cell
		return []string{e.Ghost(), e.Slab()}
	}
	return []string{e.Ghost(), e.Slab(), e.SlabWork(), e.SlabEdges(), e.SlabInside()}
}
