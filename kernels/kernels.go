// Package kernels turns a schedule into CUDA C: the contract every kernel family
// keeps, the text all families share, and the limits a device sets.
//
// A family is a folder below this one. It describes its part of the space,
// writes the source and counts the work; it never runs anything and never says
// how long it takes. Sizes are in cells, memory in bytes.
package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Family is one kernel design. Methods taking a schedule may assume that it is
// legal in the family's space for that problem.
type Family interface {
	// Name is the family's name in a schedule's text.
	Name() string
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
// A stencil of several stages has an entry for each, StageEntry(Entry, i), all with
// the same Launch of one step, or is fused (Fused) and has one entry. An entry has
// the parameters of Arguments, advances its stage by Launch.Steps time steps and
// writes every cell of the stage's outputs.
type Kernel struct {
	Schedule space.Schedule `json:"schedule"`
	Source   string         `json:"source"`
	Entry    string         `json:"entry"`
	Stages   int            `json:"stages,omitempty"` // of a time step; 0 = 1
	DType    stencil.DType  `json:"dtype"`
	Pitched  bool           `json:"pitched,omitempty"` // of a pitched problem: its parameters are those of Pitched
	Launch   Launch         `json:"launch"`
	// Least and Multiple are what the source asks of a grid: the smallest extents,
	// and that rows be whole multiples of so many cells; 0 = nothing.
	Least    [3]int `json:"least,omitzero"`
	Multiple int    `json:"multiple,omitempty"`
}

// Awaits tells whether all of the source's kernels wait for the launch before them (await_launch in common.cu), so that
// each may be launched before that has ended.
func (k Kernel) Awaits() bool {
	n := strings.Count(k.Source, " __global__ ")
	return n > 0 && n == strings.Count(k.Source, Await)
}

// Await is what each kernel begins with.
const Await = "if (await_launch(nx)) return;"

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

// Head is comments that say which schedule was asked for and how it is launched. The source
// says neither: schedules that differ in the launch alone share it.
func (k Kernel) Head() string {
	l := k.Launch
	return fmt.Sprintf("// %s\n// launch: grid %v, block %v, %d bytes of dynamic shared memory, %d time steps\n",
		k.Schedule, l.Grid, l.Block, l.SharedBytes, l.Steps)
}

// Line is a #line that makes the source, which must follow, count lines as it does alone.
func (k Kernel) Line() string { return fmt.Sprintf("#line 1 %q\n", k.file()) }

// file is the name that lines of the source go by, and that compilers are told.
func (k Kernel) file() string { return k.Entry + ".cu" }

// Launch is the geometry of one launch.
type Launch struct {
	Grid        [3]int `json:"grid"`         // blocks
	Block       [3]int `json:"block"`        // threads
	SharedBytes int    `json:"shared_bytes"` // dynamic shared memory a block
	Steps       int    `json:"steps"`        // time steps one launch advances
	// Parts is the parts of what the next step's scalars begin with that a block leaves, unless that makes too many (Leaves).
	Parts int `json:"parts,omitempty"`
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
	Flops      float64 // floating-point operations, each counted once; one on a word of two cells is one
	Beside     float64 // instructions of other units for them: in double precision, for approximations and choices
	Integer    float64 // integer and control instructions, per thread summed
	Accesses   float64 // load, store and shuffle instructions, per thread summed
	L1Loads    float64 // bytes global loads take L1's data pipe for: wavefronts x 128
	L2Read     float64 // bytes blocks fetch, each block's footprint in whole 32-byte sectors
	L2Write    float64 // bytes written
	Resent     float64 // bytes of sectors that L2 takes once more, because a warp stores them part by part
	Arrays     int     // arrays a launch reads from memory; 0 = Stencil.Reads: those of every stage
	Torn       float64 // share of the sectors written to which two blocks write, each to a part
	Shared     float64 // bytes shared memory and shuffles take the pipe for: wavefronts x 128, conflicts included
	Barriers   int     // block barriers one block passes
	Split      bool    // which warps wait at only when they have done what they can without each other
	Loads      float64 // cells a thread has in flight on their way from memory
	LoadWaits  float64 // times a thread waits for global loads, one after the other
	Prefetched bool    // loads are issued a step early: they overlap with the computing
	Copied     int     // bytes of an asynchronous copy to shared memory; 0 = none
	Abreast    int     // cells of a plane that a thread computes side by side; 0 = not told, by families whose launches nobody has counted
	Waits      float64 // times a thread waits for shared memory and arithmetic
	Registers  int     // a thread takes if it may, estimated
	Least      int     // registers below which it spills, estimated; 0 = Registers
	Spilled    float64 // values that it spills for each register that it has less, estimated; 0 = 1.2
	MinBlocks  int     // blocks an SM must hold (launch bounds); 0 = 1
	SpillTrips float64 // trips of a spilled register to local memory and back; 0 = 1
	Unroll     int     // such trips whose instructions the loop holds; 0 = it is short
	Write      [3]int  // cells one block writes
	Read       [3]int  // cells one block reads
	Window     [3]int  // cells of it that a block holds at a time, if it streams through them; 0 = all
	ColumnWide int     // blocks in a row of a column of the walk; 0 = the whole grid
	Line       Line    // of a launch that is one line of threads; the zero Line of any other
	Launch     Launch
	Workers    int  // blocks that go through the tiles, where others have nothing to do or come after them; 0 = all
	Uneven     bool // plane steps of some tiles take longer, so that tiles side by side drift apart
}

// Blocks is the blocks of a launch that share its work.
func (w Work) Blocks() int {
	if w.Workers > 0 {
		return w.Workers
	}
	return w.Launch.Blocks()
}

// Redundancy is the updates made for each useful one.
func (w Work) Redundancy() float64 { return w.Updates / w.Cells }
