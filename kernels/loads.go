package kernels

import (
	"stenciltune/space"
	"stenciltune/stencil"
)

// Loader is a family that can tell what its threads load from global memory, so
// that caches can be simulated without running anything. Optional.
type Loader interface {
	// Loads is the loads of a launch. Their order is the kernel's text's, not the
	// compiler's.
	Loads(p stencil.Problem, s space.Schedule) (Loads, error)
}

// Loads appends to list the elements of the input that one thread loads, in the
// order in which it does. Block and thread are flat, x fastest. Threads of a warp
// load in lockstep: entry i of each is one instruction, and Idle where a thread has
// nothing to load in it.
type Loads func(block, thread int, list []int64) []int64

// Idle is a load that a thread leaves to the others of its warp.
const Idle = -1

// Unflatten is the position of element i of a box, x fastest.
func Unflatten(i int, box [3]int) [3]int {
	return [3]int{i % box[0], i / box[0] % box[1], i / box[0] / box[1]}
}

// WalkTile is the tile that block i computes: block_tile of common.cu, in Go, for
// tiles of write cells and columns of column tiles.
func WalkTile(n stencil.Size, write [3]int, column, zigzag, i int) [3]int {
	tiles := Cover(n, write, false)
	if column == 0 {
		return Unflatten(i, tiles)
	}
	x, row := WalkLine(tiles[0], tiles[1]*tiles[2], column, zigzag, i)
	return [3]int{x, row % tiles[1], row / tiles[1]}
}

// WalkLine is the place of number i in a walk over width by height places, in
// columns (Prasetya 2022, section 4.1, with i taken within the column and zigzag
// w - 1 - x). Beyond the end the row is height or more, or x width or more.
func WalkLine(width, height, column, zigzag, i int) (x, row int) {
	first := i / (height * column) * column
	if first >= width {
		return width, height
	}
	w := min(column, width-first)
	in := i - first*height
	x, row = in%w, in/w
	if zigzag == 1 && row%2 == 1 {
		x = w - 1 - x
	}
	return first + x, row
}

// Nearest is the element of the grid at (x, y, z), or of the nearest cell inside.
func Nearest(n stencil.Size, x, y, z int) int64 {
	inside := func(i, n int) int64 { return int64(min(max(i, 0), n-1)) }
	return (inside(z, n[2])*int64(n[1])+inside(y, n[1]))*int64(n[0]) + inside(x, n[0])
}
