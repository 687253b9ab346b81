package kernels

import (
	"fmt"
	"math"
	"slices"

	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Planes is the extent of the axis that blocks stream along, the outermost one; 1 in one dimension.
func Planes(p stencil.Problem) int {
	if p.Stencil.Dims == 1 {
		return 1
	}
	return p.Size[p.Stencil.Dims-1]
}

// StreamingAxes splits an offset into x, the row within a plane and the plane.
func StreamingAxes(dims int, o stencil.Offset) (dx, dy, dz int) {
	switch dims {
	case 1:
		return o[0], 0, 0
	case 2:
		return o[0], 0, o[1]
	}
	return o[0], o[1], o[2]
}

// PlanePoint is a weight at DX, DY of a plane. It has no name of its own, so that families may write {0, -1, w}.
type PlanePoint = struct {
	DX, DY int
	Weight float64
}

// Proportion gives f with a = f*b, to within rounding; 1/most <= |f| <= most, so that no product leaves the element
// type's range. Neither is empty, and both are in one order.
func Proportion(a, b []PlanePoint, most float64) (f float64, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	f = a[0].Weight / b[0].Weight
	if math.Abs(f) < 1/most || math.Abs(f) > most {
		return 0, false
	}
	for i := range a {
		if a[i].DX != b[i].DX || a[i].DY != b[i].DY || math.Abs(a[i].Weight-f*b[i].Weight) > 1e-15*math.Abs(a[i].Weight) {
			return 0, false
		}
	}
	return f, true
}

// ComputedSize is the bytes of a value in computation: 16-bit floating-point values are computed in float.
func ComputedSize(d stencil.DType) int {
	if d.Floating() {
		return max(4, d.Size())
	}
	return d.Size()
}

// Room is the registers that a thread may have where so many are to run on an SM. One of every GPU since compute capability 5.0 has 65536.
func Room(threads int) int { return min(255, 65536/threads) }

// RoundUp is the least multiple of b that is not below a.
func RoundUp(a, b int) int { return CeilDiv(a, b) * b }

// EdgeRows is the rows of a warp that other warps read, of as many as it has, where rows are read so far below and above.
func EdgeRows(low, high, rows int) int {
	first, last := high, low
	if first == 0 && last > 0 {
		first = 1
	}
	if last == 0 && first > 0 {
		last = 1
	}
	return min(first+last, rows)
}

// BandsParam is the parameter wr of families whose warps hold rows of vectors.
func BandsParam(dims int) space.Param {
	bands := []int{1}
	if dims == 3 {
		bands = []int{1, 2}
	}
	return space.Param{Name: "wr", Values: bands, Ordinal: true, Optional: true,
		Doc: "bands of a warp, one above the other (3D): 1 = a row of 32 vectors, 2 = two rows of 16, which makes tiles of wide vectors narrower and higher"}
}

// TileParams are those by which the tiles of such families differ.
func TileParams() []string { return []string{"vx", "vy", "wp", "wr"} }

// BandsConstraint leaves warps whole where folding them would not make tiles squarer, or rows of a tile short.
func BandsConstraint(p stencil.Problem) space.Constraint {
	const least = 256 // bytes
	return space.Constraint{
		Name: "bands", Needs: TileParams(), Why: fmt.Sprintf("of a folded warp's tile a row is %d bytes at least, and its rows are no more than one and a half times as many as its columns", least),
		OK: func(v space.Values) bool {
			bands := v.Get("wr")
			columns := 32 / bands * v.Get("vx")
			return bands == 1 || columns*p.DType.Size() >= least && 2*bands*v.Get("wp")*v.Get("vy") <= 3*columns
		},
	}
}

// LanesConstant and BandsConstant are the constants that follow from it.
func LanesConstant(lanes int) Constant {
	return Constant{Name: "LANES", Value: lanes, Doc: "lanes of a band, which is a warp or a part of one: a row of vectors"}
}

func BandsConstant(bands int) Constant {
	return Constant{Name: "BANDS", Value: bands, Doc: "bands of a block, in 3D one above the other"}
}

// NamesOf are the names of parameters, for constraints that need most of them: of all, and of those that make a block what it is, not only a launch.
func NamesOf(params []space.Param) (all, ofBlock []string) {
	for _, q := range params {
		if all = append(all, q.Name); !q.Launch {
			ofBlock = append(ofBlock, q.Name)
		}
	}
	return all, ofBlock
}

// Overlapping is the tiling of blocks that stream along the outermost axis: on x and rows tiles of hold cells lie step cells
// apart and overlap by their halo; in 3D a tile is a block's, else each of its warps has one. The axis is cut into stream
// tiles. With sms these are as many as make no more than streamTiles*sms blocks; in 3D so many blocks share the planes of all tiles. Where the grid repeats every tile has its
// halo: the first one counts like the others. extra is as in Tiling.
// vector is the cells of one, and halo those on x before what a tile writes.
func Overlapping(p stencil.Problem, vector, halo int, hold, step [2]int, warps, streamTiles, sms, extra int) Tiling {
	early := earlyBegin(p, vector, step[0], halo)
	for axis := range min(2, max(1, p.Stencil.Dims-1)) {
		if p.Stencil.Wraps(axis) {
			hold[axis] = step[axis]
		}
	}
	t := Tiling{Hold: [3]int{hold[0], hold[1], 1}, Step: [3]int{step[0], step[1], 1}, Pack: 1, Fixed: [3]int{0, 0, streamTiles}, Fill: streamTiles * sms, Extra: extra, Early: early}
	if p.Stencil.Dims < 3 {
		t.Pack, t.Fixed[1] = warps, 1
	} else if sms > 0 {
		t.Workers, t.Fill, t.Fixed[2] = t.Fill, 0, 0
	}
	return t
}

// earlyBegin is Tiling.Early, by the rule of windows.cu.
func earlyBegin(p stencil.Problem, vector, step, halo int) int {
	unit := sectorCells(p)
	switch {
	case step%unit > 0:
		return -1
	case p.Stencil.Wraps(0) || halo%unit == 0:
		return 0
	case vector*p.DType.Size() >= 16:
		return -1
	}
	return halo % unit
}

func sectorCells(p stencil.Problem) int { return max(1, SectorBytes/p.DType.Size()) }

// Torn is the share of the sectors in memory that are written to which two tiles on x write, each to a part; the others as
// for Overlapping.
func Torn(p stencil.Problem, vector, halo int, hold, step [2]int) float64 {
	unit, n := sectorCells(p), p.Size[0]
	borders := CeilDiv(max(0, n-hold[0]), step[0])
	if p.Stencil.Wraps(0) {
		borders, halo = CeilDiv(n, step[0])-1, 0
	} else if early := earlyBegin(p, vector, step[0], halo); early >= 0 && early <= borders*step[0]-(n-hold[0]) {
		halo -= early
	}
	rows := min(unit, n&-n) // a row begins at any multiple of so many cells within a sector
	torn, period := 0.0, min(borders, unit)
	for t := range period {
		if ((t+1)*step[0]+halo)%rows > 0 {
			torn++
		} else {
			torn += 1 - float64(rows)/float64(unit) // of one row in unit/rows the tiles end with a sector
		}
	}
	return 2 * torn * float64(borders) / float64(max(1, period)) / float64(CeilDiv(n, unit))
}

// Residency is blocks of so many warps that an SM of the machine must be able to hold at once.
type Residency struct {
	Machine       machine.Machine
	Warps, Blocks int
}

// threadRegisters is the registers that a thread may have where blocks must fit.
func (r Residency) threadRegisters(blocks int) int {
	m, threads := r.Machine, 32*r.Warps
	return min(255, m.RegistersBlock/threads, m.RegistersSM/(threads*blocks))
}

// Shared tells whether the blocks' shared memory fits, of so many bytes each.
func (r Residency) Shared(bytes int) bool {
	return bytes <= r.Machine.SharedBlockOptin && r.Blocks*(bytes+r.Machine.SharedReserved) <= r.Machine.SharedSM
}

// Registers tells whether threads that need about so many registers fit; an estimate may be too high by 1 / slack.
func (r Residency) Registers(n, slack int) bool {
	return slack*n <= (slack+1)*r.threadRegisters(r.Blocks)
}

// Limits tells whether the compiler must use fewer registers than for one block less, and fewer than threads may
// need that are estimated to need n. One block always does.
func (r Residency) Limits(n int) bool {
	limit := r.threadRegisters(r.Blocks)
	return r.Blocks == 1 || limit < r.threadRegisters(r.Blocks-1) && n*3/2 > limit
}

// StreamingParams are the parameters that families share whose warps hold rows of vectors and whose blocks stream: vx, vy, wp,
// ck, pf, mb, ph with the values given, sm and wr.
func StreamingParams(p stencil.Problem, m machine.Machine, timeTiles []int, docs map[string]string) []space.Param {
	vector, rows, warps := []int{1, 2, 4, 8}, []int{1}, []int{1, 4}
	streamTiles := []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
	fill, prefetch := slices.Compact([]int{0, max(0, m.SMs)}), []int{1, 2, 4}
	switch p.Stencil.Dims {
	case 1: // there is one plane
		streamTiles, fill, prefetch = []int{1}, []int{0}, []int{1}
	case 2:
		if p.DType.Packed() {
			vector = append(vector, 16)
		}
	case 3:
		vector = []int{1, 2, 4}
		if p.DType.Size() < 4 {
			vector = append(vector, 8)
		}
		rows = []int{1, 2, 3, 4, 6, 8}
		warps = []int{4, 8, 12, 16}
		streamTiles = []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24}
	}
	sms := Tuned(SMCount, docs["sm"], fill)
	sms.Launch = slices.Contains(StreamingLaunch(p.Stencil), SMCount.Name)
	return []space.Param{
		{Name: "vx", Values: vector, Ordinal: true, Doc: docs["vx"]},
		{Name: "vy", Values: rows, Ordinal: true, Doc: docs["vy"]},
		{Name: "wp", Values: warps, Ordinal: true, Doc: docs["wp"]},
		{Name: "ck", Values: streamTiles, Ordinal: true, Launch: true, Doc: docs["ck"]},
		{Name: "pf", Values: prefetch, Ordinal: true, Near: true, Doc: docs["pf"]},
		Tuned(MinBlocks, docs["mb"], []int{1, 2, 3, 4}),
		Tuned(TimeTile, docs["ph"], timeTiles),
		sms,
		BandsParam(p.Stencil.Dims),
	}
}

// StreamingLaunch is those of StreamingParams that change the grid alone: in how many stream tiles there are. In 3D blocks with shares
// have a text of their own.
func StreamingLaunch(st *stencil.Stencil) []string {
	if st.Dims == 3 {
		return []string{"ck"}
	}
	return []string{"ck", SMCount.Name}
}

// StreamingSource is the schedule that stands for all that differ in those alone.
func StreamingSource(st *stencil.Stencil, s space.Schedule) space.Schedule {
	s = s.With("ck", 1)
	if st.Dims == 3 {
		return s
	}
	return s.Without(SMCount.Name)
}
