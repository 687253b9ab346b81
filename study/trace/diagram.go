package trace

// State is what became of an element in a step; where several things did, the
// largest is shown.
type State uint8

// The states.
const (
	Absent     State = iota
	InL2             // held by L2 at the end of the step
	InL1             // held by L1 at the end of the step
	Brought          // its line came from memory for a neighbour's sake
	HitL1            // loaded from L1
	HitL2            // loaded from L2
	FromMemory       // loaded from memory
)

// maxLevels is the levels a diagram has colours for.
const maxLevels = 2

var (
	hitStates      = [maxLevels]State{HitL1, HitL2}
	residentStates = [maxLevels]State{InL1, InL2}
)

// Diagram is a spatial-temporal diagram: elements by steps.
type Diagram struct {
	Arrays  []Array
	Grain   Grain
	Levels  int
	Columns [][]State // of each step, by element
}

// style is how a state is drawn.
type style struct {
	colour [3]uint8
	name   string
	level  int // shown in legends from this many levels on
}

// styles: the loads dark, from the memory's red to L1's blue; what is merely held
// pale.
var styles = [...]style{
	Absent:     {[3]uint8{255, 255, 255}, "", 0},
	InL2:       {[3]uint8{255, 240, 200}, "in L2", 2},
	InL1:       {[3]uint8{205, 225, 245}, "in L1", 1},
	Brought:    {[3]uint8{245, 165, 155}, "line brought in", 1},
	HitL1:      {[3]uint8{30, 90, 170}, "hit in L1", 1},
	HitL2:      {[3]uint8{230, 150, 0}, "hit in L2", 2},
	FromMemory: {[3]uint8{190, 20, 30}, "loaded from memory", 1},
}

// elements is the rows of the diagram.
func (d *Diagram) elements() int {
	n := int64(0)
	for _, a := range d.Arrays {
		n += a.Elements
	}
	return int(n)
}

// longest is the longest side of a drawing, in pixels, that scales aim at.
const longest = 1024

// scale is the pixels of a cell.
func (d *Diagram) scale() int {
	return max(1, min(4, longest/max(1, len(d.Columns), d.elements())))
}
