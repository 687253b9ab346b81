package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stenciltune/cmd/internal/cli"
	"stenciltune/device/verify"
	"stenciltune/kernels/all"
	"stenciltune/machine"
	"stenciltune/space"
	"stenciltune/stencil"
	"stenciltune/tuner"
)

// checked is what `tune check --json` prints.
type checked struct {
	Stencil  string            `json:"stencil"`
	Hash     string            `json:"hash"`
	Dims     int               `json:"dims"`
	DType    stencil.DType     `json:"dtype"`
	Boundary string            `json:"boundary"`
	Size     string            `json:"default_size"`
	Steps    int               `json:"steps"`
	Stages   []checkedStage    `json:"stages"`
	Reads    []checkedArray    `json:"reads"`
	Short    []string          `json:"short,omitempty"`      // arrays, each with the axes on which it ends one cell before the grid
	Seams    string            `json:"seams,omitempty"`      // axes across whose edges cells of one colour are neighbours
	Lists    []checkedList     `json:"lists,omitempty"`      // of places
	Numbers  []checkedNumber   `json:"numbers,omitempty"`    // that each step begins with
	Looks    int               `json:"looks,omitempty"`      // at the grid that they take, beside what the step before folds while it stores
	Reduce   string            `json:"reduce,omitempty"`     // sum, min or max
	Until    string            `json:"until,omitempty"`      // what its number must be for a run to end
	Silent   []string          `json:"never_read,omitempty"` // fields
	Unset    []string          `json:"never_set,omitempty"`  // fields
	Bytes    int               `json:"bytes"`                // that a step must move for each cell
	Flops    int               `json:"flops"`                // of a cell and step: of every stage, but for tests of a Color
	Linear   bool              `json:"linear"`               // a step is a weighted sum of points
	Hidden   int               `json:"hidden"`               // values that neighbours share, each computed once by hs=1
	Machine  string            `json:"machine"`              // whose limits the families have
	Families []checkedFamily   `json:"families"`
	Unable   map[string]string `json:"unable,omitempty"`
}

// checkedStage is a cell function.
type checkedStage struct {
	Name   string      `json:"name,omitempty"`
	Color  string      `json:"color,omitempty"` // of the cells that it updates; none of all
	Sets   []string    `json:"sets"`
	Low    []int       `json:"low"` // reach towards smaller indices on each axis
	High   []int       `json:"high"`
	Ops    stencil.Ops `json:"ops"`
	Points int         `json:"points"` // of all arrays
	Sums   int         `json:"sums"`   // weighted sums of neighbours in it
}

// checkedList is what every step does at places that a run is given.
type checkedList struct {
	Name    string `json:"name"`
	Changes string `json:"changes,omitempty"` // the field, of sources
}

// checkedNumber is a step scalar.
type checkedNumber struct {
	Name string `json:"name"`
	Op   string `json:"op,omitempty"` // sum, min or max over all cells; none of one that follows from other numbers
}

// checkedArray is where an array is read.
type checkedArray struct {
	Name   string           `json:"name"`
	Points []stencil.Offset `json:"points,omitempty"`
	Index  bool             `json:"index,omitempty"`  // by read(i), or along an axis
	Stored stencil.DType    `json:"stored,omitempty"` // its type, where that is not the element type
}

// checkedFamily is a kernel family that runs the stencil.
type checkedFamily struct {
	Name      string `json:"name"`
	Schedules int    `json:"schedules"`  // legal ones, on a large grid
	Steps     []int  `json:"time_tiles"` // time steps that a launch may fuse
	Stages    bool   `json:"fused_stages,omitempty"`
	Unfused   string `json:"unfused,omitempty"` // why a launch makes one step, where others of the family make several
}

func (a *app) check() *cobra.Command {
	var f cli.ProblemFlags
	var device string
	c := &cobra.Command{
		Use:   "check FILE.sl|NAME",
		Short: "Say what a stencil file means and which kernels it allows",
		Long: `Reads a stencil file and says what was understood: points and reach, what a step must
move and compute for each cell, what is a weighted sum, which kernel families can run it with
how many fused time steps, and why the others cannot. Nothing is compiled or run.`,
		Example: "  tune check Hotspot.sl\n  tune check srad2 --json\n  tune check Hotspot.sl --device host",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("check which stencil? name one file or one of %s", strings.Join(stencil.Names(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.Stencil = args[0]
			p, err := f.On(device)
			if err != nil {
				return err
			}
			m, err := factsOf(c.Context(), device, p)
			if err != nil {
				return err
			}
			r := checkStencil(p, m)
			if a.JSON {
				return a.PrintJSON(r)
			}
			return r.print(a.Out, p.Stencil)
		},
	}
	f.BindCell(c)
	c.Flags().StringVar(&device, "device", tuner.ModelPrefix+"h200", "`device` whose limits count, as for tune model")
	return a.JSONFlag(c)
}

// factsOf are the facts of a device, here or not.
func factsOf(ctx context.Context, name string, p stencil.Problem) (machine.Machine, error) {
	if id, ok := strings.CutPrefix(name, tuner.ModelPrefix); ok {
		k, err := machine.FindKnown(id)
		if err != nil {
			return machine.Machine{}, tuner.Input(err)
		}
		return k.Machine, nil
	}
	d, err := tuner.OpenDevice(ctx, name, p)
	if err != nil {
		return machine.Machine{}, err
	}
	defer d.Close()
	return d.Machine(), nil
}

func checkStencil(p stencil.Problem, m machine.Machine) checked {
	s := p.Stencil
	_, _, linear := s.Linear()
	r := checked{Stencil: s.Name, Hash: s.Hash, Dims: s.Dims, DType: p.DType, Boundary: s.Outside(), Size: p.Size.Text(s.Dims), Steps: p.Steps, Seams: p.Seams(),
		Bytes: p.Compulsory(), Flops: s.Flops(), Linear: linear, Machine: m.Name, Unable: map[string]string{}}
	set := map[int]bool{}
	for i := range s.Stages {
		st := &s.Stages[i]
		c := checkedStage{Name: st.Name, Low: st.Low[:s.Dims], High: st.High[:s.Dims], Ops: s.Updating(i)}
		if st.Color != nil {
			c.Color = st.Color.String()
		}
		for _, f := range st.Outputs {
			c.Sets, set[f] = append(c.Sets, fieldName(s.Fields[f])), true
		}
		for _, points := range st.Points {
			c.Points += len(points)
		}
		if s.DType.Floating() {
			c.Sums = len(s.Split(i, 2).Sums)
		}
		r.Stages = append(r.Stages, c)
	}
	for i := range s.Sparse {
		one := checkedList{Name: s.Sparse[i].Name}
		if s.Sparse[i].Sources() {
			one.Changes = fieldName(s.Fields[s.Sparse[i].Field])
		}
		r.Lists = append(r.Lists, one)
	}
	for i := range s.StepScalars {
		r.Numbers = append(r.Numbers, checkedNumber{s.StepScalars[i].Name, s.StepScalars[i].Op})
	}
	for i, pass := range s.StepPasses() {
		if len(pass.Folded) > 0 && (i > 0 || len(s.Launched(1).FoldsStored()) == 0) {
			r.Looks++
		}
	}
	if s.Reduce != nil {
		r.Reduce = s.Reduce.Op
	}
	if u := s.Until; u != nil {
		r.Until = fmt.Sprintf("%s %v, asked every %s", u.Op, u.Limit, stencil.Several(u.Every, "step"))
	}
	for i, f := range s.Fields {
		if len(f.Points) > 0 {
			r.Reads = append(r.Reads, checkedArray{Name: fieldName(f), Points: s.Asked(i), Stored: f.Type})
		} else {
			r.Silent = append(r.Silent, fieldName(f))
		}
		if !set[i] {
			r.Unset = append(r.Unset, fieldName(f))
		}
	}
	for _, a := range slices.Concat(s.Fields, s.ReadOnly) {
		axes := ""
		for axis, short := range a.Short {
			if short {
				axes += " " + "xyz"[axis:axis+1]
			}
		}
		if axes != "" {
			r.Short = append(r.Short, a.Name+axes)
		}
	}
	for i, a := range s.ReadOnly {
		r.Reads = append(r.Reads, checkedArray{a.Name, s.Asked(len(s.Fields) + i), a.Indexed, a.Type})
	}
	if h := s.Hoisted(stencil.Shared); h != nil {
		r.Hidden = len(h.Fields) - len(s.Fields)
	}
	source := verify.NewSource(m, all.Families())
	able, unable := source.Able(p)
	for _, f := range able {
		list := source.Legal(p, f)
		c := checkedFamily{Name: f.Name(), Schedules: len(list)}
		tiles := map[int]bool{}
		for _, sc := range list {
			tiles[sc.Int("ph", 1)] = true
			c.Stages = c.Stages || sc.Int("fs", 0) == 1 || f.Name() == "pipeline" && len(s.Stages) > 1
		}
		c.Steps = slices.Sorted(maps.Keys(tiles))
		if len(c.Steps) == 1 {
			c.Unfused = unfused(space.New(f.Space(p, m)), list)
		}
		r.Families = append(r.Families, c)
	}
	for _, f := range unable {
		r.Unable[f.Name()] = source.Why(p, f)
	}
	return r
}

// unfused says why none of a family's legal schedules may make two steps a launch, as most of some that could have it; "" if the family fuses none.
func unfused(sp *space.Space, list []space.Schedule) string {
	const tries = 100
	reasons, most := map[string]int{}, ""
	for i := 0; i < len(list); i += 1 + len(list)/tries {
		var broken *space.Rejection
		if s := list[i]; s.Int("ph", 0) == 1 && errors.As(sp.Check(s.With("ph", 2)), &broken) {
			if reasons[broken.Why]++; reasons[broken.Why] > reasons[most] {
				most = broken.Why
			}
		}
	}
	return most
}

// fieldName is a field as people read it.
func fieldName(f stencil.Array) string {
	if f.Name == "" {
		return "the cell"
	}
	return f.Name
}

// unmirrored says which arrays are read across a side where a field is mirrored and they are not: mostly they belong to the same wall.
func unmirrored(s *stencil.Stencil) (notes []string) {
	mirrored := func(a stencil.Array, axis, side int) bool { return a.Rules[axis][side].Boundary == stencil.Mirror }
	for axis := range s.Dims {
		for side := range 2 {
			i := slices.IndexFunc(s.Fields, func(a stencil.Array) bool { return mirrored(a, axis, side) })
			if i < 0 {
				continue
			}
			for k, a := range s.ReadOnly {
				note := fmt.Sprintf("%s is mirrored on %s, %s is not and is read beyond the edge; if they have the same wall, add Boundary %[3]s %[2]s mirror", s.Fields[i].Name, "xyz"[axis:axis+1], a.Name)
				if a.Axis == 0 && !a.Short[axis] && s.ReadsBeyond(len(s.Fields)+k, axis, side) && !mirrored(a, axis, side) && !slices.Contains(notes, note) {
					notes = append(notes, note)
				}
			}
		}
	}
	return notes
}

// unasked says which EdgeValue is never asked: that of a field which nothing reads beyond the side. Those of all sides are asked where
// they may be, so that one must be asked anywhere, but for one that names its field and side.
func unasked(s *stencil.Stencil) (notes []string) {
	sides := func(i int) (edges, asked int) {
		for axis := range s.Dims {
			for side := range 2 {
				if s.Fields[i].Rules[axis][side].Boundary == stencil.Edge {
					edges++
					if s.ReadsBeyond(i, axis, side) {
						asked++
					}
				}
			}
		}
		return edges, asked
	}
	for i, a := range s.Fields {
		edges, asked := sides(i)
		if edges == 2*s.Dims && asked == 0 {
			others := false // have the same function, and ask it
			for k, b := range s.Fields {
				_, more := sides(k)
				others = others || more > 0 && reflect.DeepEqual(a.Edge, b.Edge)
			}
			if !others {
				notes = append(notes, fmt.Sprintf("nothing reads %s beyond the grid, so its EdgeValue is never asked", fieldName(a)))
			}
			continue
		}
		for axis := range s.Dims {
			for side, end := range []string{"low", "high"} {
				if a.Rules[axis][side].Boundary == stencil.Edge && !s.ReadsBeyond(i, axis, side) && (edges < 2*s.Dims || a.EdgeNames(axis, side)) {
					notes = append(notes, fmt.Sprintf("nothing reads %s beyond the %s end of %c, so its EdgeValue is never asked there", fieldName(a), end, "xyz"[axis]))
				}
			}
		}
	}
	return notes
}

func (r checked) print(to io.Writer, s *stencil.Stencil) error {
	w := &strings.Builder{}
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-9s %s\n", what, fmt.Sprintf(format, args...))
	}
	outside := r.Boundary
	if s.Boundary == stencil.Constant {
		outside = fmt.Sprintf("%s %v", outside, s.Constant)
	}
	fmt.Fprintf(w, "%s: %s, boundary %s, grid %s, %s\n", r.Stencil, r.DType, outside, r.Size, stencil.Several(r.Steps, "step"))
	for _, a := range r.Reads {
		text := a.Name
		if a.Index {
			text += " by index"
		}
		if n := len(a.Points); n > 0 {
			text += " at " + stencil.Several(n, "point")
			if n <= 9 {
				text += ": " + offsets(a.Points, r.Dims)
			}
		}
		if text == a.Name {
			line("unread", "%s: nothing reads it, so remove it", a.Name)
			continue
		}
		if a.Stored != "" {
			text += ", stored in " + string(a.Stored)
		}
		line("reads", "%s", text)
	}
	for _, note := range slices.Concat(unmirrored(s), unasked(s)) {
		line("note", "%s", note)
	}
	for _, w := range s.Wide {
		axis, name, held := "xyz"[w.Axis], s.Fields[w.Field].Name, ""
		if w.Alone > 0 {
			held = fmt.Sprintf(", and return %c %s ? get(%s%s) : ...", axis, []string{fmt.Sprintf("< %d", w.Alone), fmt.Sprintf(">= input_size.%c - %d", axis, w.Alone)}[w.Side], name, strings.Repeat(", 0", s.Dims))
		}
		line("note", "%s keeps %s at the %s end of %c, because its stage reads so far for another field; alone it would keep %d: for that leave out its fixed rule there%s",
			name, stencil.Several(w.Cells, "cell"), []string{"low", "high"}[w.Side], axis, w.Alone, held)
	}
	if len(r.Short) > 0 {
		line("short", "%s: there they end one cell before the grid", strings.Join(r.Short, ", "))
	}
	for _, st := range r.Stages {
		name := strings.TrimSpace("stage " + st.Name)
		if st.Name == "" {
			name = "cell"
		}
		sums := ""
		if st.Sums > 0 && !r.Linear {
			sums = "; in it " + stencil.Several(st.Sums, "weighted sum") + " of neighbours"
		}
		if st.Color != "" {
			sums += "; half sweep over " + st.Color
		}
		line(name, "sets %s; reach %s; %s, %s, %s, %s%s", strings.Join(st.Sets, ", "), reachText(st.Low, st.High), stencil.Several(st.Ops.Add, "addition"),
			stencil.Several(st.Ops.Mul, "product"), stencil.Several(st.Ops.Div, "quotient"), stencil.Several(st.Ops.Special, "function"), sums)
	}
	if r.Seams != "" {
		line("seams", "the grid of %s joins cells of one colour across its edges on %s", r.Size, r.Seams)
	}
	for _, l := range r.Lists {
		if l.Changes != "" {
			line("sources", "%s: change %s after each step, at places given to a run", l.Name, l.Changes)
		} else {
			line("receivers", "%s: record a number of each place after each step", l.Name)
		}
	}
	if len(r.Numbers) > 0 {
		var list []string
		for _, n := range r.Numbers {
			text := n.Name
			if n.Op != "" {
				text += " (" + n.Op + " over all cells)"
			}
			list = append(list, text)
		}
		how := ""
		switch {
		case r.Looks > 0:
			how = "; they take " + stencil.Several(r.Looks, "look") + " at the grid"
		case slices.ContainsFunc(r.Numbers, func(n checkedNumber) bool { return n.Op != "" }):
			how = "; the step before folds them while it stores"
		}
		line("numbers", "each step begins with %s%s; steps are not fused", strings.Join(list, ", "), how)
	}
	if r.Until != "" {
		line("reduce", "%s over all cells; a run ends when it is %s", r.Reduce, r.Until)
	} else if r.Reduce != "" {
		line("reduce", "%s over all cells, when a run asks for it", r.Reduce)
	}
	if len(r.Silent) > 0 {
		line("written", "only: %s", strings.Join(r.Silent, ", "))
	}
	if len(r.Unset) > 0 {
		line("constant", "%s: no stage sets it, so declare it with ReadOnly", strings.Join(r.Unset, ", "))
	}
	line("traffic", "%d bytes a cell and step at least: every array once", r.Bytes)
	colored := ""
	if slices.ContainsFunc(r.Stages, func(st checkedStage) bool { return st.Color != "" }) {
		colored = "; a stage with a Color counts at every cell, without the test"
	}
	line("flops", "%d a cell and step, %.2g a byte; what kernels fuse, a product and its addition, is one; of an if both branches count%s", r.Flops, float64(r.Flops)/float64(r.Bytes), colored)
	switch {
	case r.Linear:
		line("linear", "yes: a weighted sum of points")
	case r.Hidden > 0:
		line("linear", "no; neighbours share %s, computed once by hs=1", stencil.Several(r.Hidden, "value"))
	default:
		line("linear", "no")
	}
	fmt.Fprintf(w, "kernels on %s:\n", r.Machine)
	for _, f := range r.Families {
		stages := ""
		if f.Stages {
			stages = "; the stages of a step in one launch"
		}
		why := ""
		if f.Unfused != "" {
			why = ", no more: " + f.Unfused
		}
		line(f.Name, "time tiles %s%s (%d schedules)%s", strings.Trim(fmt.Sprint(f.Steps), "[]"), stages, f.Schedules, why)
	}
	for _, f := range all.Families() {
		if why, ok := r.Unable[f.Name()]; ok {
			line("not", "%s", why)
		}
	}
	_, err := io.WriteString(to, w.String())
	return err
}

// offsets are points in words.
func offsets(points []stencil.Offset, dims int) string {
	var list []string
	for _, o := range points {
		list = append(list, "("+strings.ReplaceAll(strings.Trim(fmt.Sprint(o[:dims]), "[]"), " ", ", ")+")")
	}
	return strings.Join(list, " ")
}

// reachText is how far a stage reads on each axis.
func reachText(low, high []int) string {
	var list []string
	for a := range low {
		list = append(list, fmt.Sprintf("%c %d..%d", "xyz"[a], -low[a], high[a]))
	}
	return strings.Join(list, ", ")
}
