package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Shape is the part of a schedule that every family has.
type Shape struct {
	Group   [3]int // threads of a block on x, y, z
	Work    [3]int // cells a thread computes on x, y, z
	Column  int    // width in cells of the strips in which the grid is walked; 0 = none
	Zigzag  int    // 1 reverses every other row of a strip
	Pyramid int    // time tile: time steps fused in one launch
}

// ShapeOf reads a schedule's shape; what the family lacks is 1 (0 for the column).
func ShapeOf(s space.Schedule) Shape {
	return Shape{
		Group:   [3]int{s.Int("gx", 1), s.Int("gy", 1), s.Int("gz", 1)},
		Work:    [3]int{s.Int("wx", 1), s.Int("wy", 1), s.Int("wz", 1)},
		Column:  s.Int("cw", 0),
		Zigzag:  s.Int("zz", 0),
		Pyramid: s.Int("ph", 1),
	}
}

// Write is the cells a block writes.
func (h Shape) Write() [3]int {
	return [3]int{h.Group[0] * h.Work[0], h.Group[1] * h.Work[1], h.Group[2] * h.Work[2]}
}

// Threads is the threads of a block.
func (h Shape) Threads() int { return h.Group[0] * h.Group[1] * h.Group[2] }

// Constants are the shape's numbers for a kernel's text.
func (h Shape) Constants() []Constant {
	var list []Constant
	for a := range 3 {
		list = append(list, Constant{"GROUP_" + upper(a), h.Group[a], fmt.Sprintf(docGroup, axis(a))})
	}
	for a := range 3 {
		list = append(list, Constant{"WORK_" + upper(a), h.Work[a], fmt.Sprintf(docWork, axis(a))})
	}
	return append(list, Constant{"COLUMN", h.Column, docColumn}, Constant{"ZIGZAG", h.Zigzag, docZigzag}, Constant{"PYRAMID", h.Pyramid, DocTimeTile})
}

// Grid is the blocks that cover n with the shape's tiles: the tiles' own shape, or
// a line if they are walked in columns.
func (h Shape) Grid(n stencil.Size) [3]int { return Cover(n, h.Write(), h.Column > 0) }

// Cover is the blocks that cover n with tiles of write cells, as a box or as one
// line.
func Cover(n stencil.Size, write [3]int, line bool) [3]int {
	g := [3]int{CeilDiv(n[0], write[0]), CeilDiv(n[1], write[1]), CeilDiv(n[2], write[2])}
	if line {
		return [3]int{g[0] * g[1] * g[2], 1, 1}
	}
	return g
}

// CeilDiv is a over b, rounded up.
func CeilDiv(a, b int) int { return (a + b - 1) / b }

// WholePart is the most cells of a vector, half of it or a quarter and so on, of which a row of n cells is whole; vector is
// a power of two.
func WholePart(vector, n int) int {
	for n%vector != 0 {
		vector /= 2
	}
	return vector
}

// Volume is the cells of a box.
func Volume(b [3]int) int { return b[0] * b[1] * b[2] }

// Texts of the parameters that families share.
const (
	docGroup  = "threads of a block on %s; more threads share loads, fewer leave registers to each"
	docWork   = "cells a thread computes on %s; saves loads and index arithmetic, costs registers and parallelism"
	docColumn = "width in cells of the vertical strips in which tiles are walked, 0 = off; keeps neighbouring rows in cache, costs index arithmetic"
	docZigzag = "1 reverses every other row of a column, so that the turn finds its neighbours in cache"

	// DocTimeTile is TimeTile's.
	DocTimeTile = "time tile (pyramid height): time steps fused in one launch; saves launches and memory traffic, costs recomputed halo cells"
)

// ShapeParams are the parameters of Shape but the time tile, for a grid of dims
// dimensions: an axis the grid lacks is fixed at 1.
func ShapeParams(dims int, group, work [3][]int, columns []int) []space.Param {
	var ps []space.Param
	for a := range 3 {
		ps = append(ps, space.Param{Name: "g" + axis(a), Doc: fmt.Sprintf(docGroup, axis(a)), Values: present(a, dims, group[a]), Ordinal: true})
	}
	for a := range 3 {
		ps = append(ps, space.Param{Name: "w" + axis(a), Doc: fmt.Sprintf(docWork, axis(a)), Values: present(a, dims, work[a]), Ordinal: true})
	}
	if dims == 1 {
		columns = []int{0}
	}
	return append(ps,
		space.Param{Name: "cw", Doc: docColumn, Values: columns, Ordinal: true},
		space.Param{Name: "zz", Doc: docZigzag, Values: []int{0, 1}})
}

func axis(a int) string { return "xyz"[a : a+1] }

func upper(a int) string { return "XYZ"[a : a+1] }

func present(a, dims int, values []int) []int {
	if a >= dims {
		return []int{1}
	}
	return values
}

// shapeNames are the group shape and the work multipliers.
var shapeNames = []string{"gx", "gy", "gz", "wx", "wy", "wz"}

// ReadShape is the group shape and the work multipliers of values under enumeration.
func ReadShape(v space.Values) Shape {
	return Shape{
		Group:   [3]int{v.Get("gx"), v.Get("gy"), v.Get("gz")},
		Work:    [3]int{v.Get("wx"), v.Get("wy"), v.Get("wz")},
		Pyramid: 1,
	}
}

// ThreadConstraints are a machine's limits on the group shape.
func ThreadConstraints(m machine.Machine) []space.Constraint {
	group := shapeNames[:3]
	threads := func(v space.Values) int { return v.Get("gx") * v.Get("gy") * v.Get("gz") }
	return []space.Constraint{
		{
			Name: "threads", Needs: group,
			Why: fmt.Sprintf("a block has at most %d threads, %v on x, y, z", m.MaxThreadsBlock, m.MaxBlockDim),
			OK: func(v space.Values) bool {
				return threads(v) <= m.MaxThreadsBlock && v.Get("gx") <= m.MaxBlockDim[0] && v.Get("gy") <= m.MaxBlockDim[1] && v.Get("gz") <= m.MaxBlockDim[2]
			},
		}, {
			Name: "warps", Needs: group, Advice: true,
			Why: fmt.Sprintf("threads come in warps of %d, and with at most %d blocks an SM must be able to hold %d threads", m.WarpSize, m.MaxBlocksSM, m.MaxThreadsSM),
			OK: func(v space.Values) bool {
				return threads(v)%m.WarpSize == 0 && threads(v)*m.MaxBlocksSM >= m.MaxThreadsSM
			},
		},
	}
}

// Tile is what a block covers, as functions of a schedule's values.
type Tile struct {
	Needs []string                  // the parameters it follows from
	Write func(space.Values) [3]int // cells the block writes
	Width func(space.Values) int    // cells on x that a column's width is a multiple of
}

// GroupTile is the tile of most families: group shape times work multipliers.
func GroupTile() Tile {
	return Tile{
		Needs: shapeNames[:6],
		Write: func(v space.Values) [3]int { return ReadShape(v).Write() },
		Width: func(v space.Values) int { return v.Get("gx") * v.Get("wx") },
	}
}

// WorkConstraint bounds the cells of a thread.
func WorkConstraint(maxWork int) space.Constraint {
	return space.Constraint{
		Name: "work", Needs: shapeNames[3:6],
		Why: fmt.Sprintf("a thread keeps every value it computes in registers; more than %d spill", maxWork),
		OK:  func(v space.Values) bool { return v.Get("wx")*v.Get("wy")*v.Get("wz") <= maxWork },
	}
}

// TileConstraints are the rules of families that compute a box of cells a block.
func TileConstraints(p stencil.Problem, m machine.Machine, tile Tile) []space.Constraint {
	n := p.Size
	return []space.Constraint{
		{
			Name: "tile-size", Needs: tile.Needs, Advice: true,
			Why: fmt.Sprintf("a tile that is twice the grid (%s) or more on an axis leaves threads idle", n.Text(p.Stencil.Dims)),
			OK: func(v space.Values) bool {
				for a, w := range tile.Write(v) {
					if w >= 2*n[a] && w > 1 && !(a == 0 && w <= m.WarpSize) {
						return false
					}
				}
				return true
			},
		}, {
			Name: "column-width", Needs: append(slices.Clone(tile.Needs), "cw"),
			Why: fmt.Sprintf("a column holds two or more whole tiles and is narrower than the grid (%d)", n[0]),
			OK: func(v space.Values) bool {
				c, w := v.Get("cw"), tile.Width(v)
				return c == 0 || c%w == 0 && c > w && c < n[0]
			},
		},
		zigzagConstraint(),
		{
			Name: "grid", Needs: append(slices.Clone(tile.Needs), "cw"),
			Why: fmt.Sprintf("a grid has at most %v blocks on x, y, z", m.MaxGridDim),
			OK:  func(v space.Values) bool { return gridFits(tile.Write(v), v.Get("cw") > 0, n, m) },
		},
	}
}

// gridFits tells whether the blocks that cover n with tiles of write cells can be
// launched, as a box or as one line.
func gridFits(write [3]int, line bool, n stencil.Size, m machine.Machine) bool {
	blocks := int64(1)
	for a := range 3 {
		g := CeilDiv(n[a], write[a])
		blocks *= int64(g)
		if !line && g > m.MaxGridDim[a] {
			return false
		}
	}
	return blocks <= int64(min(m.MaxGridDim[0], math.MaxInt32))
}

// zigzagConstraint ties zigzag to a column width.
func zigzagConstraint() space.Constraint {
	return space.Constraint{
		Name: "zigzag", Needs: []string{"cw", "zz"},
		Why: "zigzag turns round at the end of a column's row; without a column width there is none",
		OK:  func(v space.Values) bool { return v.Get("zz") == 0 || v.Get("cw") > 0 },
	}
}

// maxComputed is the most values of earlier stages that a thread computes: more is text
// that takes seconds to compile.
const maxComputed = 128

// maxFused is the most of them in the text of a launch that fuses steps as well, where a function that takes a GPU many instructions, like a
// sine, counts as another value: with four times as many, compilers take minutes.
const maxFused = 64

// FuseStages gives a space the optional parameter fs, if a time step has several stages
// that can be fused: with 1 a launch computes all of them, and fuses time steps as it
// does those of one stage. of is the space for a stencil: of any one it has the same
// parameters, and the same constraints in the same order. vector is the parameter that
// holds the cells of a vector, if there is one.
func FuseStages(p stencil.Problem, of func(stencil.Problem) *space.Family, vector string) *space.Family {
	f := of(p)
	fused := p.Stencil.Fused()
	if fused == nil {
		return f
	}
	rows, text := p.Size[0], 0
	for i, at := range fused.Evaluations {
		text += len(at) * (1 + p.Stencil.Stages[i].Ops.Special)
	}
	p.Stencil = fused
	for i, c := range of(p).Constraints {
		apart := f.Constraints[i]
		if c.Name != apart.Name {
			panic("kernels: the constraints of a family depend on the stencil")
		}
		f.Constraints[i].Needs = append(slices.Clone(c.Needs), "fs")
		f.Constraints[i].OK = func(v space.Values) bool {
			if v.Get("fs") == 1 {
				return c.OK(v)
			}
			return apart.OK(v)
		}
		// What is broken with fs and without need not wait until fs is chosen.
		either := apart
		either.OK = func(v space.Values) bool { return apart.OK(v) || c.OK(v) }
		f.Constraints = append(f.Constraints, either)
	}
	f.Params = append(f.Params, space.Param{
		Name: "fs", Values: []int{0, 1}, Optional: true,
		Doc: "1 fuses the stages of a time step: what a stage leaves is computed anew where the next one reads it, and never stored",
	})
	needs := []string{"gx", "wx", "wy", "wz", "fs"}
	if vector != "" {
		needs = append(needs, vector)
		f.Constraints = append(f.Constraints, space.Constraint{
			Name: "fused-vectors", Needs: []string{vector, "fs"},
			Why: fmt.Sprintf("rows (%d) that are not whole vectors go the way of the grid's edge, where stages that are fused keep rows in local memory", rows),
			OK:  func(v space.Values) bool { return v.Get("fs") == 0 || rows%v.Get(vector) == 0 },
		})
	}
	f.Constraints = append(f.Constraints, space.Constraint{
		Name: "fused-work", Needs: needs,
		Why: fmt.Sprintf("a thread computes at most %d values of the stages before the last", maxComputed),
		OK: func(v space.Values) bool {
			if v.Get("fs") == 0 {
				return true
			}
			work, stride, n := [3]int{v.Get("wx"), v.Get("wy"), v.Get("wz")}, v.Get("gx"), 0
			if vector != "" && v.Get(vector) > 1 {
				work[0], stride = v.Get(vector), 1
			}
			for _, at := range fused.Evaluations[:len(fused.Evaluations)-1] {
				n += DistinctLoads(at, work, stride)
			}
			return n <= maxComputed
		},
	})
	if slices.ContainsFunc(f.Params, func(q space.Param) bool { return q.Name == "ph" }) {
		f.Constraints = append(f.Constraints, space.Constraint{
			Name: "fused-steps", Needs: []string{"ph", "fs"},
			Why: fmt.Sprintf("the text of a launch computes at most %d values, and costly functions, of the stages and steps that it fuses: compilers take minutes over more", maxFused),
			OK:  func(v space.Values) bool { return v.Get("fs") == 0 || v.Get("ph") == 1 || text*v.Get("ph") <= maxFused },
		})
	}
	return f
}

// Fused is the problem as a schedule runs it: with the stages of a time step fused, if
// it says so.
func Fused(p stencil.Problem, s space.Schedule) stencil.Problem {
	if s.Int("fs", 0) == 1 {
		if f := p.Stencil.Fused(); f != nil {
			p.Stencil = f
		}
	}
	return p
}

// StepsConstraint keeps a launch to the time steps that it may fuse; lists says that kernels of several do what sources and
// receivers do.
func StepsConstraint(p stencil.Problem, lists bool) space.Constraint {
	most, why := p.Steps, fmt.Sprintf("a launch cannot fuse more time steps than the problem has (%d)", p.Steps)
	if n := len(p.Stencil.StepScalars); n > 0 {
		most, why = 1, fmt.Sprintf("every time step reads numbers of the whole grid of the step before (StepScalar %s): steps cannot be fused", p.Stencil.StepScalars[n-1].Name)
	}
	if n := len(p.Stencil.Sparse); n > 0 && !lists {
		most, why = 1, fmt.Sprintf("sources and receivers (%s) find the grid in memory after every time step: steps cannot be fused", p.Stencil.Sparse[n-1].Name)
	}
	return space.Constraint{Name: "steps", Needs: []string{"ph"}, Why: why, OK: func(v space.Values) bool { return v.Get("ph") <= most }}
}

// MirrorsApart tells whether arrays differ in whether they are mirrored beyond some side (Stencil.MirrorsApart).
func MirrorsApart(st *stencil.Stencil) bool {
	return slices.ContainsFunc([]int{0, 1, 2}[:st.Dims], st.MirrorsApart)
}

// MirrorsConstraint keeps families that find what lies outside by its place in the plane to rules that allow it.
func MirrorsConstraint(st *stencil.Stencil) space.Constraint {
	why, apart := "a plane, row or column stands for the same one beyond an edge in all arrays: all are mirrored there, or none", false
	for axis := range st.Dims {
		if a := st.MirroredApart(axis); a != nil {
			apart = true
			why += fmt.Sprintf(" (on %c %s and %s differ)", "xyz"[axis], cmp.Or(st.Fields[0].Name, "the field"), a.Name)
		}
	}
	return space.Constraint{
		Name: "boundary", Needs: []string{"vx"}, Why: why,
		OK: func(space.Values) bool { return !apart },
	}
}

// FusionConstraint keeps stencils of several stages to one time step a launch.
func FusionConstraint(st *stencil.Stencil) space.Constraint {
	return space.Constraint{
		Name: "stages", Needs: []string{"ph"},
		Why: fmt.Sprintf("a time step of %d stages takes as many launches: steps cannot be fused unless the stages are (fs=1)", len(st.Stages)),
		OK:  func(v space.Values) bool { return len(st.Stages) == 1 || v.Get("ph") == 1 },
	}
}

// CheckRegisters tells, once a kernel is compiled, whether a block of it can be
// launched: registers are given to warps in units of 256 (CUDA occupancy rules).
func CheckRegisters(m machine.Machine, s space.Schedule, threads, registers int) error {
	if m.RegistersBlock == 0 || registers == 0 {
		return nil
	}
	perWarp := CeilDiv(registers*m.WarpSize, 256) * 256
	if need := perWarp * CeilDiv(threads, m.WarpSize); need > m.RegistersBlock {
		return &space.Rejection{Schedule: s, Constraint: "registers",
			Why: fmt.Sprintf("%d threads of %d registers need %d, a block has %d", threads, registers, need, m.RegistersBlock)}
	}
	return nil
}

// Spaces joins the spaces of families for a problem.
func Spaces(families []Family, p stencil.Problem, m machine.Machine) *space.Space {
	var fs []*space.Family
	for _, f := range families {
		fs = append(fs, f.Space(p, m))
	}
	return space.New(fs...)
}

// Find gives the family of a schedule, or nil.
func Find(families []Family, name string) Family {
	i := slices.IndexFunc(families, func(f Family) bool { return f.Name() == name })
	if i < 0 {
		return nil
	}
	return families[i]
}
