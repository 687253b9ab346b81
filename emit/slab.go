package emit

import (
	"fmt"
	"slices"

	"stenciltune/stencil"
)

// cut is what a source knows of an axis across which a grid may be cut into parts that are computed apart.
type cut struct {
	Axis  string `json:"-"`     // x, y or z
	Reach int    `json:"reach"` // layers that a wrong value travels along it in a time step: the stages' reaches, added
	Whole string `json:"whole"` // why no grid can be cut there, "" if it can
	Wraps bool   `json:"-"`
}

// Layers is what the launcher knows of it: the reach, -1 where no grid can be cut.
func (c cut) Layers() int {
	if c.Whole != "" {
		return -1
	}
	return c.Reach
}

// cutsOf are a stencil's axes.
func cutsOf(st *stencil.Stencil) (cuts []cut) {
	for axis := range st.Dims {
		c := cut{Axis: "xyz"[axis : axis+1], Whole: whole(st, axis), Wraps: st.Wraps(axis)}
		for i := range st.Stages {
			most := 0
			for _, points := range st.Stages[i].Points {
				for _, o := range points {
					most = max(most, o[axis], -o[axis])
				}
			}
			c.Reach += most
		}
		cuts = append(cuts, c)
	}
	return cuts
}

// whole tells why a grid cannot be cut across an axis into parts that are computed apart, if so.
func whole(st *stencil.Stencil, axis int) string {
	switch {
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

// NoBox tells why a grid cannot be cut into boxes, "" if it can be across some axis.
func (e exports) NoBox() string {
	if len(e.Lists) > 0 {
		return "places of sources and receivers are cells of the whole grid"
	}
	if slices.ContainsFunc(e.Cuts, func(c cut) bool { return c.Whole == "" }) {
		return ""
	}
	return e.Cuts[len(e.Cuts)-1].Whole
}

// BoxGhosts is the head of the function that says how deep the ghost cells of a box are along an axis.
func (e exports) BoxGhosts() string {
	return fmt.Sprintf("int %sBoxGhosts(int axis, int iterations)", e.Name)
}

// Box is the head of the function that advances a box.
func (e exports) Box() string {
	list := slices.Concat(e.arrays(), e.shape(), []parameter{{"const int *", "below"}, {"const int *", "above"}}, e.stepping(), []parameter{e.result(), {"void *", "stream"}})
	return fmt.Sprintf("int %sBox(%s)", e.Name, signature(list))
}

// Ghost is the head of the function that says how deep ghost zones are.
func (e exports) Ghost() string { return fmt.Sprintf("int %sGhost(int iterations)", e.Name) }

// Slab is the head of the function that advances a slab.
func (e exports) Slab() string {
	return fmt.Sprintf("int %sSlab(%s)", e.Name, signature(append(e.slab(), e.result(), parameter{"void *", "stream"})))
}

// Apart tells whether slabs are also advanced on two streams: not where places are counted from a slab's first cell.
func (e exports) Apart() bool { return e.Whole == "" && len(e.Lists) == 0 }

// SlabApart is the head of the function that does so.
func (e exports) SlabApart() string {
	return fmt.Sprintf("int %sSlabApart(%s)", e.Name, signature(append(e.slab(), e.result(), parameter{"void *", "edges"}, parameter{"void *", "inside"})))
}

// slab is the parameters that they share.
func (e exports) slab() []parameter {
	return slices.Concat(e.arrays(), e.lists(), e.shape(), []parameter{{"int", "below"}, {"int", "above"}}, e.stepping())
}

// cutHeads are the functions on slabs and boxes; none if the grid cannot be cut.
func (e exports) cutHeads() (heads []string) {
	if e.Whole == "" {
		heads = []string{e.Ghost(), e.Slab()}
	}
	if e.Apart() {
		heads = append(heads, e.SlabApart())
	}
	if e.NoBox() == "" {
		heads = append(heads, e.BoxGhosts(), e.Box())
	}
	return heads
}
