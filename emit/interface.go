package emit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// element is the C type of a cell in everything emitted. 16-bit floating-point
// types, for which C has none, are the bits they are stored in: CUDA's __half and
// __nv_bfloat16 are pointed to with a cast.
func element(d stencil.DType) string {
	if d.Floating() && d.Size() == 2 {
		return "unsigned short"
	}
	return d.C()
}

// parameter is one of an exported function.
type parameter struct{ Type, Name string }

// signature is a parameter list as C.
func signature(list []parameter) string {
	var text []string
	for _, p := range list {
		text = append(text, strings.TrimSuffix(p.Type, " ")+" "+p.Name)
	}
	return strings.ReplaceAll(strings.Join(text, ", "), "* ", "*")
}

// setter gives one read-only array to the stencil.
type setter struct {
	Name  string // of the function
	Array int
}

// scalarPar is a scalar as a parameter.
type scalarPar struct {
	parameter
	Kernel string // its type as the kernels take it
}

// listPar is a list of places as parameters: the places, how many they are, the table and its rows.
type listPar struct {
	Name, Places, Count, Table, Rows string
	Sources                          bool
}

// exports are the functions of an emitted source: the two of the stencil language ("A Language
// and Optimizing Compiler for Iterative Stencil Loops", section 4), one for data that is on the
// device already, and those that tell what became of the last run. They follow from the stencil
// and its element type alone, never from the schedule.
type exports struct {
	Name, Element string
	Shortest      *stencil.Size // extents, if one must be more than 1; nil of others
	Cell          string        // of fields: Element, or what all are stored in, or void where they differ
	Cells         []string      // of each field
	Elements      []string      // of each read-only array
	Several       bool          // of them, some are not Element
	Fields        []string      // names; "" of the only one of a file without Fields
	Temporary     string        // names of those that are temporary
	ReadOnly      []stencil.Array
	Extents       []parameter
	Leading       []parameter // elements from row to row, and in 3D rows from plane to plane; of functions for pitched grids
	Arrays        []parameter // read-only arrays on the device
	Lengths       []string    // parameters with their elements; "" of an array of the grid's cells
	Lists         []listPar   // sources and receivers
	Iterates      bool
	Until         bool   // runs may end before the steps asked for
	Cuts          []cut  // by axis
	Whole         string // why the grid cannot be cut into slabs, "" if it can
	Scalars       []scalarPar
	Setters       []setter // without one for an array there is an empty NameSetData
}

// exportsOf are those of a source.
func exportsOf(s Source) exports {
	name, st, d := s.Name, s.Problem.Stencil, s.dtype()
	e := exports{Name: name, Element: element(d), ReadOnly: slices.Clone(st.ReadOnly), Until: st.Until != nil, Cuts: cutsOf(st)}
	if least := st.Least(); least != (stencil.Size{1, 1, 1}) {
		e.Shortest = &least
	}
	e.Whole = e.Cuts[st.Dims-1].Whole
	if st.Dims == 1 {
		e.Whole = "its grid has one axis"
	}
	e.Iterates = st.Iterates() || e.Until // a run that is cut into parts is looked at after the same steps
	taken := strings.Fields("data n nx ny nz iterations first grid scratch fields result stream graph run below above edges inside apart " + name)
	if s.Problem.Pitched {
		e.Leading = []parameter{{"int", "ldx"}, {"int", "ldy"}}[:st.Dims-1]
		taken = append(taken, "ldx", "ldy")
	}
	// A file's names may be words of C, or taken here.
	free := func(s string) string {
		if checkName(s) != nil {
			s = "user_" + s
		}
		for slices.Contains(taken, s) {
			s += "_"
		}
		taken = append(taken, s)
		return s
	}
	var temporary []string
	for _, f := range st.Fields {
		e.Fields = append(e.Fields, f.Name)
		e.Cells = append(e.Cells, element(cmp.Or(f.Type, d)))
		if f.Temporary {
			temporary = append(temporary, f.Name)
		}
	}
	e.Cell = e.Cells[0]
	if len(slices.Compact(slices.Clone(e.Cells))) > 1 {
		e.Cell, e.Whole = "void", cmp.Or(e.Whole, "its fields are stored in different types")
	}
	for _, axis := range []string{"nx", "ny", "nz"}[:st.Dims] {
		e.Extents = append(e.Extents, parameter{"int", axis})
	}
	for i, a := range st.ReadOnly {
		param := a.Name
		if param == stencil.ReadName {
			param = "read_only"
		}
		e.Elements = append(e.Elements, element(cmp.Or(a.Type, d)))
		e.Several = e.Several || e.Elements[i] != e.Element
		e.Arrays = append(e.Arrays, parameter{"const " + e.Elements[i] + " *", free(param)})
		length := ""
		e.ReadOnly[i].Indexed = a.Indexed || a.Axis > 0 // also where nothing reads it
		if e.ReadOnly[i].Indexed {
			length = free(e.Arrays[i].Name + "_length")
		}
		e.Lengths = append(e.Lengths, length)
		set := name + "SetData"
		if len(st.ReadOnly) > 1 {
			set += "_" + a.Name
		}
		e.Setters = append(e.Setters, setter{set, i})
	}
	for i := range st.Sparse {
		a := &st.Sparse[i]
		l := listPar{Name: a.Name, Table: free(a.Name), Sources: a.Sources()}
		l.Places, l.Count, l.Rows = free(l.Table+"_places"), free(l.Table+"_count"), free(l.Table+"_steps")
		e.Lists = append(e.Lists, l)
	}
	e.Temporary = strings.Join(temporary, ", ")
	for _, a := range st.Scalars {
		s := scalarPar{parameter{a.Type.C(), free(a.Name)}, kernels.ScalarC(a)}
		if a.Type == stencil.Elem {
			s.Type = d.C()
			if c := kernels.Computed(d); c != "T" {
				s.Type = c
			}
		}
		e.Scalars = append(e.Scalars, s)
	}
	return e
}

// Pitched tells whether they are for grids whose rows are parts of longer ones.
func (e exports) Pitched() bool { return len(e.Leading) > 0 }

// shape is the parameters that say what grid it is.
func (e exports) shape() []parameter { return slices.Concat(e.Extents, e.Leading) }

// Single tells whether a cell holds one field.
func (e exports) Single() bool { return len(e.Fields) == 1 }

// Reader is what reads an array, as a comment has it.
func (e exports) Reader(array int) string {
	if name := e.ReadOnly[array].Name; name != stencil.ReadName {
		return fmt.Sprintf("get(%s, ...)", name)
	}
	return "read()"
}

// lists are the parameters of sources and receivers.
func (e exports) lists() (list []parameter) {
	for _, l := range e.Lists {
		table := e.Element + " *"
		if l.Sources {
			table = "const " + table
		}
		list = append(list, parameter{"const long long *", l.Places}, parameter{"int", l.Count}, parameter{table, l.Table}, parameter{"int", l.Rows})
	}
	return list
}

func (e exports) scalars() []parameter {
	var list []parameter
	for _, s := range e.Scalars {
		list = append(list, s.parameter)
	}
	return list
}

// Run is the head of the function on host memory.
func (e exports) Run() string {
	list := slices.Concat([]parameter{{e.Data(), "data"}}, e.lists(), e.Extents, []parameter{{"int", "iterations"}}, e.scalars())
	return fmt.Sprintf("void %s(%s)", e.Name, signature(list))
}

// Data is the C type by which that takes all fields: one after the other, or where their types differ an array of where each is.
func (e exports) Data() string {
	if e.Cell == "void" {
		return "void *const *"
	}
	return e.Cell + " *"
}

// CellName is what the launcher calls the type of fields.
func (e exports) CellName() string {
	if e.Cell == e.Element {
		return "Element"
	}
	return "Cell"
}

// CellBytes is the bytes of an element of a field by the launcher's variable, or number, for it.
func (e exports) CellBytes(field any) string {
	if e.Cell == "void" {
		return fmt.Sprintf("cell_bytes[%v]", field)
	}
	return "sizeof(" + e.CellName() + ")"
}

// Stored says what fields are stored in where their types differ, as a comment has it.
func (e exports) Stored() string {
	if e.Cell != "void" {
		return ""
	}
	var list []string
	for i, c := range e.Cells {
		list = append(list, e.Fields[i]+" "+c)
	}
	return strings.Join(list, ", ")
}

// Set is the head of a function that gives read-only data of a C type.
func (e exports) Set(name, element string) string {
	return fmt.Sprintf("void %s(const %s *data, int n)", name, element)
}

// Held is what the launcher takes the elements of read-only arrays for.
func (e exports) Held() string {
	if e.Several {
		return "void"
	}
	return "Element"
}

// HeldBytes is the bytes of an element of an array by the launcher's variable for its number.
func (e exports) HeldBytes(array string) string {
	if e.Several {
		return "element_bytes[" + array + "]"
	}
	return "sizeof(Element)"
}

// OnDevice is the head of the function on device memory.
func (e exports) OnDevice() string {
	return fmt.Sprintf("int %sOnDevice(%s)", e.Name, signature(append(e.onDevice(), parameter{"void *", "stream"})))
}

// Graph is the head of the function that makes a graph of what OnDevice would launch.
func (e exports) Graph() string {
	return fmt.Sprintf("int %sGraph(%s)", e.Name, signature(append(e.onDevice(), parameter{"void **", "graph"})))
}

// Measure is the head of the function that finds out which kernel is fastest on a grid.
func (e exports) Measure() string {
	return fmt.Sprintf("int %sMeasure(%s)", e.Name, signature(slices.Concat(e.arrays(), e.lists(), e.shape(), e.scalars(), []parameter{{"void *", "stream"}})))
}

// GraphArguments are what that function hands on to OnDevice.
func (e exports) GraphArguments() string {
	var names []string
	for _, p := range e.onDevice() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// arrays are the parameters that are arrays on the device.
func (e exports) arrays() []parameter {
	list := []parameter{{e.Cell + " *const *", "fields"}, {e.Cell + " *const *", "scratch"}}
	if e.Single() {
		list = []parameter{{e.Cell + " *", "grid"}, {e.Cell + " *", "scratch"}}
	}
	for i, a := range e.Arrays {
		list = append(list, a)
		if e.Lengths[i] != "" {
			list = append(list, parameter{"long long", e.Lengths[i]})
		}
	}
	return list
}

// result tells where the answers are.
func (e exports) result() parameter { return parameter{e.Cell + " **", "result"} }

// onDevice is the parameters of both, less the last.
func (e exports) onDevice() []parameter {
	return slices.Concat(e.arrays(), e.lists(), e.shape(), e.stepping(), []parameter{e.result()})
}

// stepping is the parameters that say which steps are made, and with which scalars.
func (e exports) stepping() []parameter {
	list := []parameter{{"int", "iterations"}}
	if e.Iterates {
		list = append(list, parameter{"int", "first"})
	}
	return append(list, e.scalars()...)
}

// Variant is the head of the function that tells which kernel does a grid.
func (e exports) Variant() string {
	return fmt.Sprintf("const char *%sVariant(%s)", e.Name, signature(e.shape()))
}

// Expected is the head of the function that tells what a time step should take.
func (e exports) Expected() string {
	return fmt.Sprintf("double %sExpected(%s)", e.Name, signature(e.shape()))
}

// Error is the head of the function that tells how the last run went.
func (e exports) Error() string { return fmt.Sprintf("int %sError(void)", e.Name) }

// Steps is the head of the function that tells how many steps the last run made.
func (e exports) Steps() string { return fmt.Sprintf("int %sSteps(void)", e.Name) }

// Reduced is the head of the function that gives the number of its last look.
func (e exports) Reduced() string { return fmt.Sprintf("double %sReduced(void)", e.Name) }

// sets are the heads of the functions that give read-only data.
func (e exports) sets() []string {
	if len(e.Setters) == 0 {
		return []string{e.Set(e.Name+"SetData", e.Element)}
	}
	var heads []string
	for _, s := range e.Setters {
		heads = append(heads, e.Set(s.Name, e.Elements[s.Array]))
	}
	return heads
}

// prototypes declare what an emitted source exports.
func (e exports) prototypes() string {
	heads := []string{e.OnDevice(), e.Variant(), e.Expected()}
	if !e.Pitched() {
		heads = slices.Concat([]string{e.Run()}, e.sets(), heads, []string{e.Error()})
	}
	if !e.Until {
		heads = append(heads, e.Graph(), e.Measure())
	}
	if e.Until {
		heads = append(heads, e.Steps(), e.Reduced())
	}
	text := strings.Join(append(heads, e.cutHeads()...), ";\n") + ";\n"
	if e.Whole != "" {
		text += fmt.Sprintf("/* No %sSlab: %s. */\n", e.Name, e.Whole)
	}
	if why := e.NoBox(); why != "" {
		text += fmt.Sprintf("/* No %sBox: %s. */\n", e.Name, why)
	}
	return text
}
