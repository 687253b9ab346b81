// Package trace simulates what the loads of a launch find in caches, and draws it:
// the spatial-temporal diagrams of Prasetya, "Column based iteration" (2022),
// section 3.2, of any schedule whose family describes its loads.
//
// It is a simulation of order, not of time: one thread, warp or block runs after the
// other, blocks in the order of their numbers, on one SM that holds one block at a
// time. Stores are left out, as in the thesis. Addresses are in bytes, lines and
// elements are counted.
package trace

import (
	"context"
	"fmt"
)

// Options are the caches. Levels are searched in order; a line that is found
// further down, or in memory, is then held by every level above.
type Options struct {
	Levels []Cache // L1, and perhaps L2
	Policy Policy
	Seed   uint64 // of Random
	Grain  Grain
	Draw   bool // keep a Diagram
}

// Counts is what a simulation found. A request is one line that a load instruction
// asks for.
type Counts struct {
	Steps      int     `json:"steps"` // threads, warps or blocks that loaded
	Requests   int64   `json:"requests"`
	Hits       []int64 `json:"hits"`       // of each level
	Fetches    int64   `json:"fetches"`    // lines of the last level that came from memory
	Compulsory int64   `json:"compulsory"` // lines of the last level that were touched: no cache can fetch fewer
}

// maxCells bounds a diagram, in elements times steps.
const maxCells = 1 << 23

// Simulate runs a stream. Without Options.Draw the diagram is nil.
func Simulate(ctx context.Context, s Stream, o Options) (Counts, *Diagram, error) {
	c := Counts{Hits: make([]int64, len(o.Levels))}
	m := memory{Counts: &c, elementBytes: int64(s.ElementBytes)}
	align := int64(1)
	for i, l := range o.Levels {
		if l.LineBytes%s.ElementBytes != 0 {
			return c, nil, fmt.Errorf("a line of %d bytes holds no whole number of elements of %d bytes", l.LineBytes, s.ElementBytes)
		}
		align = max(align, int64(l.LineBytes))
		m.levels = append(m.levels, newLevel(l, o.Policy, o.Seed+uint64(i)))
	}
	m.place(s.Arrays, align)
	m.touched = map[int64]bool{}
	var d *Diagram
	if o.Draw {
		d = &Diagram{Arrays: s.Arrays, Grain: o.Grain, Levels: len(o.Levels)}
	}
	for step := range s.steps(o.Grain) {
		if err := ctx.Err(); err != nil {
			return c, nil, err
		}
		if d != nil && int64(c.Steps+1)*m.elements() > maxCells {
			return c, nil, fmt.Errorf("the diagram would have more than %d columns of %d addresses; make the grid smaller", c.Steps, m.elements())
		}
		c.Steps++
		var column []State
		if d != nil {
			column = make([]State, m.elements())
		}
		for _, load := range step {
			m.load(load, column)
		}
		if d != nil {
			m.residents(column)
			d.Columns = append(d.Columns, column)
		}
	}
	c.Compulsory = int64(len(m.touched))
	return c, d, nil
}

// memory is the levels over the arrays.
type memory struct {
	*Counts
	levels       []*level
	elementBytes int64
	firsts       []int64 // first element of each array, and the number of all
	bases        []int64 // byte address of each array
	touched      map[int64]bool
	asked        []int64 // lines of the load at hand
}

// place lays out the arrays.
func (m *memory) place(arrays []Array, align int64) {
	m.firsts = []int64{0}
	at := int64(0)
	for _, a := range arrays {
		m.bases = append(m.bases, at)
		at += (a.Elements*m.elementBytes + align - 1) / align * align
		m.firsts = append(m.firsts, m.elements()+a.Elements)
	}
}

func (m *memory) elements() int64 { return m.firsts[len(m.firsts)-1] }

// array is the array of an element.
func (m *memory) array(element int64) int {
	a := 0
	for element >= m.firsts[a+1] {
		a++
	}
	return a
}

func (m *memory) address(element int64) int64 {
	a := m.array(element)
	return m.bases[a] + (element-m.firsts[a])*m.elementBytes
}

// load asks once for each line of an instruction's elements, and notes in column,
// unless it is nil, what became of them.
func (m *memory) load(elements []int64, column []State) {
	m.asked = m.asked[:0]
next:
	for _, e := range elements {
		at := m.address(e)
		line := at / int64(m.levels[0].LineBytes)
		for _, l := range m.asked {
			if l == line {
				continue next
			}
		}
		m.asked = append(m.asked, line)
		from := m.request(at)
		if column == nil {
			continue
		}
		if from == FromMemory {
			m.mark(column, at, Brought)
		}
		for _, other := range elements {
			if m.address(other)/int64(m.levels[0].LineBytes) == line {
				column[other] = max(column[other], from)
			}
		}
	}
}

// request looks for an address level by level and gives where it was found.
func (m *memory) request(address int64) State {
	m.Requests++
	last := m.levels[len(m.levels)-1]
	m.touched[address/int64(last.LineBytes)] = true
	for i, l := range m.levels {
		if l.load(address) {
			m.Hits[i]++
			return hitStates[i]
		}
	}
	m.Fetches++
	return FromMemory
}

// mark raises the state of the elements of the last level's line at an address.
func (m *memory) mark(column []State, address int64, s State) {
	bytes := int64(m.levels[len(m.levels)-1].LineBytes)
	m.line(column, address/bytes*bytes, bytes, s)
}

func (m *memory) line(column []State, from, bytes int64, s State) {
	a := len(m.bases) - 1
	for m.bases[a] > from {
		a--
	}
	first := m.firsts[a] + (from-m.bases[a])/m.elementBytes
	for e := first; e < min(first+bytes/m.elementBytes, m.firsts[a+1]); e++ {
		column[e] = max(column[e], s)
	}
}

// residents notes what the levels hold at the end of a step.
func (m *memory) residents(column []State) {
	for i, l := range m.levels {
		for line := range l.at {
			m.line(column, line*int64(l.LineBytes), int64(l.LineBytes), residentStates[i])
		}
	}
}
