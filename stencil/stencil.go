// Package stencil says WHAT is computed: a grid's cells, the points each new
// value reads, the cell function, the rule at the boundary and the element type.
//
// It also holds the float64 reference that every kernel is compared with. Axis 0
// is x, the fastest; offsets are in cells. It knows nothing of schedules or devices.
package stencil

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Offset is a point relative to the own cell, in cells on x, y, z.
type Offset [3]int

func (o Offset) text(dims int) string {
	parts := make([]string, dims)
	for i := range parts {
		parts[i] = strconv.Itoa(o[i])
	}
	return strings.Join(parts, ", ")
}

// Boundary is the rule for a point that lies outside the grid.
type Boundary string

// Clamp reads the nearest cell inside instead.
const Clamp Boundary = "clamp"

// Stencil is one stencil, immutable once parsed.
type Stencil struct {
	Name     string
	Dims     int
	Points   []Offset // distinct, in order z, y, x
	Low      [3]int   // largest reach towards smaller indices, >= 0
	High     [3]int   // largest reach towards larger indices, >= 0
	Body     []Stmt
	Boundary Boundary
	DType    DType // the file's own element type; a Problem may choose another
	Ops      Ops
	Hash     string // SHA-256 of the meaning: same hash, same answer
	text     string // the file as it was read
}

// Ops counts the operations of one cell update, from the syntax tree.
type Ops struct {
	Add     int `json:"add"` // additions, subtractions, comparisons
	Mul     int `json:"mul"`
	Div     int `json:"div"`
	Special int `json:"special"` // square roots, exponentials ...
}

// Total is every floating-point operation counted once.
func (o Ops) Total() int { return o.Add + o.Mul + o.Div + o.Special }

// Text is the stencil file itself.
func (s *Stencil) Text() string { return s.text }

// Radius is the largest reach on each axis.
func (s *Stencil) Radius() [3]int {
	return [3]int{max(s.Low[0], s.High[0]), max(s.Low[1], s.High[1]), max(s.Low[2], s.High[2])}
}

func (s *Stencil) addPoint(o Offset) {
	if !slices.Contains(s.Points, o) {
		s.Points = append(s.Points, o)
	}
}

// finish derives everything that follows from points and body.
func (s *Stencil) finish() {
	slices.SortFunc(s.Points, func(a, b Offset) int {
		return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
	})
	for _, o := range s.Points {
		for a := range 3 {
			s.Low[a] = max(s.Low[a], -o[a])
			s.High[a] = max(s.High[a], o[a])
		}
	}
	count := func(e Expr) {
		switch e := e.(type) {
		case Binary:
			switch e.Op {
			case '*':
				s.Ops.Mul++
			case '/':
				s.Ops.Div++
			default:
				s.Ops.Add++
			}
		case Call:
			if mathFuncs[e.Func].special {
				s.Ops.Special++
			} else {
				s.Ops.Add++
			}
		}
	}
	for _, st := range s.Body {
		switch st := st.(type) {
		case Let:
			walk(st.Value, count)
		case Return:
			walk(st.Value, count)
		}
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("stencil v1 dims=%d boundary=%s\n%s", s.Dims, s.Boundary, CellSource(s))))
	s.Hash = hex.EncodeToString(sum[:])
}

// stencilJSON is a stencil as it crosses a process boundary: the file.
type stencilJSON struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// MarshalJSON writes the stencil as its name and file.
func (s *Stencil) MarshalJSON() ([]byte, error) { return json.Marshal(stencilJSON{s.Name, s.text}) }

// UnmarshalJSON parses the file again.
func (s *Stencil) UnmarshalJSON(b []byte) error {
	var j stencilJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	p, err := Parse(j.Name, j.Name+".sl", j.Text)
	if err != nil {
		return err
	}
	*s = *p
	return nil
}

// Problem is what a schedule is tuned for.
type Problem struct {
	Stencil *Stencil `json:"stencil"`
	DType   DType    `json:"dtype"`
	Size    Size     `json:"size"`
	Steps   int      `json:"steps"` // time steps of one run of the user's program
}

// Bytes is the size of one grid.
func (p Problem) Bytes() int64 { return p.Size.Cells() * int64(p.DType.Size()) }

// Wide tells whether element indices need 64 bits: a 32-bit index may go one
// block beyond the end before it is compared, so the border is 2^24 elements below 2^31.
func (p Problem) Wide() bool { return p.Size.Cells() >= 1<<31-1<<24 }

// Text is the problem on one line: "jacobi3d/f32/512x512x512".
func (p Problem) Text() string {
	return p.Stencil.Name + "/" + p.DType.Short() + "/" + p.Size.Text(p.Stencil.Dims)
}

// Resized is the same problem on another grid.
func (p Problem) Resized(s Size) Problem { p.Size = s; return p }
