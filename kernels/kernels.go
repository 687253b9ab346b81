// Package kernels turns a schedule into CUDA C: the contract every kernel family
// keeps, the text all families share, and the limits a device sets.
//
// A family is a folder below this one. It describes its part of the space,
// writes the source and counts the work; it never runs anything and never says
// how long it takes. Sizes are in cells, memory in bytes.
package kernels

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"stenciltune/device/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is one kernel design. Methods taking a schedule may assume that it is
// legal in the family's space for that problem.
type Family interface {
	// Name is the family's name in a schedule's text.
	Name() string
	// Doc says in one line what the design is.
	Doc() string
	// Space is the family's parameters and constraints for a problem on a machine.
	Space(p stencil.Problem, m machine.Machine) *space.Family
	// Work counts what one launch does.
	Work(p stencil.Problem, s space.Schedule) Work
	// Kernel writes the source and the launch geometry.
	Kernel(p stencil.Problem, s space.Schedule) Kernel
}

// Kernel is a schedule made real. The source depends on the stencil, the element
// type, the schedule and on whether indices need 64 bits, but not on the size: the
// same compiled kernel runs on any grid that Least and Multiple admit, with the
// Launch of that grid.
//
// Every entry has the parameters (const T *in, T *out, int nx, int ny, int nz),
// advances in by Launch.Steps time steps and writes every cell of out.
type Kernel struct {
	Schedule space.Schedule `json:"schedule"`
	Source   string         `json:"source"`
	Entry    string         `json:"entry"`
	DType    stencil.DType  `json:"dtype"`
	Launch   Launch         `json:"launch"`
	// Least and Multiple are what the source asks of a grid: the smallest extents,
	// and that rows be whole multiples of so many cells; 0 = nothing.
	Least    [3]int `json:"least,omitzero"`
	Multiple int    `json:"multiple,omitempty"`
}

// Suited is the grid nearest to n, not smaller, that the source is right for.
// Where it must grow it does so by a third more than the least, so that several
// tiles cut each other.
func (k Kernel) Suited(n stencil.Size) stencil.Size {
	for a := range n {
		if n[a] < k.Least[a] {
			n[a] = (k.Least[a] + k.Least[a]/3) | 1
		}
	}
	if k.Multiple > 1 {
		n[0] = CeilDiv(n[0], k.Multiple) * k.Multiple
	}
	return n
}

// Launch is the geometry of one launch.
type Launch struct {
	Grid        [3]int `json:"grid"`         // blocks
	Block       [3]int `json:"block"`        // threads
	SharedBytes int    `json:"shared_bytes"` // dynamic shared memory a block
	Steps       int    `json:"steps"`        // time steps one launch advances
}

// Threads is the threads of a block.
func (l Launch) Threads() int { return l.Block[0] * l.Block[1] * l.Block[2] }

// Blocks is the blocks of the grid.
func (l Launch) Blocks() int { return l.Grid[0] * l.Grid[1] * l.Grid[2] }

// SourceHash is the SHA-256 of the source: the identity of what is compiled.
func (k Kernel) SourceHash() string {
	h := sha256.Sum256([]byte(k.Source))
	return hex.EncodeToString(h[:])
}

// Work counts what one launch does, before any cache: the model turns it into
// seconds. Bytes and operations are totals over the grid, redundant work included.
type Work struct {
	Steps      int     // time steps a launch advances
	Cells      float64 // useful cell updates: cells of the grid x Steps
	Updates    float64 // cell updates made, ghost zones included
	Flops      float64 // floating-point operations, each counted once
	Special    float64 // divisions and special functions among them
	Integer    float64 // integer and control instructions, per thread summed
	Accesses   float64 // load, store and shuffle instructions, per thread summed
	L1Loads    float64 // bytes global loads take L1's data pipe for: wavefronts x 128
	L2Read     float64 // bytes blocks fetch, each block's footprint in whole 32-byte sectors
	L2Write    float64 // bytes written
	Shared     float64 // bytes shared memory and shuffles take the pipe for: wavefronts x 128, conflicts included
	Barriers   int     // block barriers one block passes
	Loads      float64 // cells a thread has in flight on their way from memory
	LoadRounds float64 // times a thread waits for global loads, one after the other
	Ahead      bool    // loads are issued a round ahead: they overlap with the computing
	Rounds     float64 // times a thread waits for shared memory and arithmetic
	Parallel   float64 // independent cells it has at hand each time
	Registers  int     // a thread takes if it may, estimated
	Least      int     // registers below which it spills, estimated; 0 = Registers
	MinBlocks  int     // blocks an SM must hold (launch bounds); 0 = 1
	Laps       float64 // times a spilled register is written and read again; 0 = 1
	Write      [3]int  // cells one block writes
	Read       [3]int  // cells one block reads
	Window     [3]int  // cells of it that a block holds at a time, if it walks over them; 0 = all
	ColumnWide int     // blocks in a row of a column of the walk; 0 = the whole grid
	Launch     Launch
}

// Redundancy is the updates made for each useful one.
func (w Work) Redundancy() float64 { return w.Updates / w.Cells }

//go:embed common.cu
var common string

// Constant is one compile-time number of a kernel.
type Constant struct {
	Name  string
	Value int
}

// Source assembles a kernel: a comment that says what it is, the element type,
// the constants, the cell function and the shared text, then the family's own.
func Source(p stencil.Problem, s space.Schedule, constants []Constant, file, body string) (source, entry string) {
	id := sha256.Sum256([]byte(fmt.Sprint(s, p.DType, p.Wide(), p.Stencil.Hash, constants)))
	entry = identifier(p.Stencil.Name) + "_" + s.Family() + "_" + hex.EncodeToString(id[:4])
	var b strings.Builder
	fmt.Fprintf(&b, "// %s, %s: schedule %s\n// Generated by tune. DO NOT EDIT.\n", identifier(p.Stencil.Name), p.DType, s)
	index := "int"
	if p.Wide() {
		index = "long long"
	}
	fmt.Fprintf(&b, "#define ENTRY %s\ntypedef %s T;\ntypedef %s index_t; // of an element\n", entry, p.DType.C(), index)
	st := p.Stencil
	fmt.Fprintf(&b, "constexpr int LOW_X = %d, LOW_Y = %d, LOW_Z = %d;    // reach to smaller indices\n", st.Low[0], st.Low[1], st.Low[2])
	fmt.Fprintf(&b, "constexpr int HIGH_X = %d, HIGH_Y = %d, HIGH_Z = %d; // reach to larger indices\n", st.High[0], st.High[1], st.High[2])
	for _, c := range constants {
		fmt.Fprintf(&b, "constexpr int %s = %d;\n", c.Name, c.Value)
	}
	b.WriteString("\n// A cell's new value; get(dx, dy, dz) gives the old one at an offset.\n")
	b.WriteString("template <class Get> __device__ __forceinline__ T cell(const Get &get) {\n")
	for line := range strings.Lines(stencil.CellSource(st)) {
		b.WriteString("  " + line)
	}
	b.WriteString("}\n\n#line 1 \"common.cu\"\n")
	b.WriteString(common)
	fmt.Fprintf(&b, "\n#line 1 %q\n", file)
	b.WriteString(body)
	b.WriteString("#undef ENTRY\n")
	return b.String(), entry
}

// identifier makes a name fit for C and for a comment.
func identifier(name string) string {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}
