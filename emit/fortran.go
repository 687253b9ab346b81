package emit

import (
	"fmt"
	"slices"
	"strings"
)

// fortranTypes are iso_c_binding's of the C types that exported functions take. Fortran has no unsigned
// integers: theirs hold the bits.
var fortranTypes = map[string]string{
	"float": "real(c_float)", "double": "real(c_double)",
	"signed char": "integer(c_int8_t)", "unsigned char": "integer(c_int8_t)", "short": "integer(c_int16_t)", "unsigned short": "integer(c_int16_t)",
	"int": "integer(c_int)", "unsigned": "integer(c_int)", "long long": "integer(c_int64_t)", "unsigned long long": "integer(c_int64_t)",
}

// longestFortran is the most letters of a name (Fortran 2003, 3.2.2), less those of the longest suffix.
const longestFortran = 63 - len("_set_data_10")

// fortranNames are parameters' names, which Fortran tells apart by their letters alone.
type fortranNames map[string]bool

func (taken fortranNames) of(name string) string {
	name = strings.ToLower(strings.TrimLeft(name, "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "s" + name
	}
	name = name[:min(len(name), longestFortran)]
	for taken[name] {
		name = name[:min(len(name), longestFortran-1)] + "_"
	}
	taken[name] = true
	return name
}

// procedure is one of the module's: a function of the emitted source.
type procedure struct {
	doc, name, c string
	result       string // its type; "" = a subroutine
	arguments    []argument
}

type argument struct{ declared, name string }

func (p procedure) text() string {
	var names, declared []string
	for _, a := range p.arguments {
		names = append(names, strings.TrimSuffix(a.name, "(*)"))
		declared = append(declared, fmt.Sprintf("      %s :: %s\n", a.declared, a.name))
	}
	kind := "subroutine"
	if p.result != "" {
		kind = "function"
		declared = append(declared, fmt.Sprintf("      %s :: %s\n", p.result, p.name))
	}
	list := strings.Join(names, ", ")
	if len(kind)+len(p.name)+len(list) > 132-len("     () &") { // the columns of a line
		list = strings.Join(names, ", &\n        ")
	}
	return fmt.Sprintf("    ! %s\n    %s %s(%s) &\n        bind(c, name=\"%s\")\n      import\n%s    end %[2]s %[3]s\n", p.doc, kind, p.name, list, p.c, strings.Join(declared, ""))
}

// fortran is a module of interfaces to the functions of the emitted CUDA source.
func fortran(s Source) ([]byte, error) {
	name := fortranNames{}.of(s.Name)
	longest := longestFortran
	if s.Pitched {
		longest -= len("_pitched")
	}
	if len(s.Name) > longest {
		return nil, fmt.Errorf("name %s is longer than the %d letters that Fortran leaves: choose another with --name", s.Name, longest)
	}
	var list []procedure
	for _, one := range s.layouts() {
		list = append(list, procedures(one, name)...)
	}
	var b strings.Builder
	b.WriteString(banner(s, "!"))
	fmt.Fprintf(&b, "! Build it beside the CUDA source (tune emit --format cu) and link with -lcudart. Arrays are in Fortran's order: x first.\n")
	fmt.Fprintf(&b, "module %s_tuned\n  use, intrinsic :: iso_c_binding\n  implicit none\n  public\n  interface\n", name)
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.text())
	}
	fmt.Fprintf(&b, "  end interface\nend module %s_tuned\n", name)
	return []byte(b.String()), nil
}

// procedures are those of a source; module is what the module's name begins with.
func procedures(s Source, module string) []procedure {
	e, name := exportsOf(s), module
	if e.Pitched() {
		name += "_pitched"
	}
	element, data, given := fortranTypes[e.Element], argument{fortranTypes[e.Cell] + ", intent(inout)", "data(*)"}, "fields one after the other"
	if e.Cell == "void" {
		data.declared, given = "type(c_ptr), intent(in)", "where each field is"
	}
	taken := fortranNames{}
	for n := range strings.FieldsSeq("data n iterations first grid scratch fields result stream below above edges inside graph " + module + "_tuned") {
		taken[n] = true
	}
	value := func(c, name string) argument { return argument{fortranTypes[c] + ", value", taken.of(name)} }
	pointer := func(name string) argument { return argument{"type(c_ptr), value", name} }
	var extents, scalars, arrays []argument
	for _, p := range e.shape() {
		extents = append(extents, value(p.Type, p.Name))
	}
	for i, p := range e.Arrays {
		arrays = append(arrays, pointer(taken.of(p.Name)))
		if e.Lengths[i] != "" {
			arrays = append(arrays, value("long long", e.Lengths[i]))
		}
	}
	var lists []argument // as the function on host memory takes them
	for _, l := range e.Lists {
		places, count, table, rows := taken.of(l.Places), value("int", l.Count), taken.of(l.Table), value("int", l.Rows)
		intent := "inout"
		if l.Sources {
			intent = "in"
		}
		arrays = append(arrays, pointer(places), count, pointer(table), rows)
		lists = append(lists, argument{"integer(c_int64_t), intent(in)", places + "(*)"}, count, argument{element + ", intent(" + intent + ")", table + "(*)"}, rows)
	}
	for _, p := range e.Scalars {
		scalars = append(scalars, value(p.Type, p.Name))
	}
	steps := argument{"integer(c_int), value", "iterations"}
	device := []argument{{"type(c_ptr), intent(in)", "fields(*)"}, {"type(c_ptr), intent(in)", "scratch(*)"}}
	result := argument{"type(c_ptr), intent(out)", "result(*)"}
	if e.Single() {
		device, result = []argument{pointer("grid"), pointer("scratch")}, argument{"type(c_ptr), intent(out)", "result"}
	}
	slab := slices.Concat(extents, []argument{{"integer(c_int), value", "below"}, {"integer(c_int), value", "above"}, steps})
	first := []argument{{"integer(c_int), value", "first"}}
	if !e.Iterates {
		first = nil
	}
	stream := pointer("stream")
	works := slices.Concat(device, arrays)
	device = slices.Concat(works, extents, []argument{steps}, first)
	list := []procedure{
		{"Advances data in the host's memory, " + given + ", in place.", name + "_run", e.Name, "", slices.Concat([]argument{data}, lists, extents, []argument{steps}, scalars)},
		{"Advances fields on the device; result says where the answers are. The value is a cudaError_t.", name + "_on_device", e.Name + "OnDevice", "integer(c_int)",
			slices.Concat(device, scalars, []argument{result, stream})},
		{"The cudaError_t of the last run in the host's memory.", name + "_error", e.Name + "Error", "integer(c_int)", nil},
	}
	if e.Pitched() { // nothing of the host's memory
		list, e.Setters = list[1:2], nil
	}
	list = append(list, procedure{"What does such a grid, and why: the address of a text that ends with c_null_char.", name + "_variant", e.Name + "Variant", "type(c_ptr)", extents},
		procedure{"Seconds that a time step on such a grid should take; 0 if that is not known.", name + "_expected", e.Name + "Expected", "real(c_double)", extents})
	if !e.Until {
		list = append(list, procedure{"The launches of so many steps as a CUDA graph, a cudaGraphExec_t. The value is a cudaError_t.", name + "_graph", e.Name + "Graph", "integer(c_int)",
			slices.Concat(device, scalars, []argument{result, {"type(c_ptr), intent(out)", "graph"}})},
			procedure{"Has what is fastest do such grids from now on. Arrays that are written lose what they hold. The value is a cudaError_t.", name + "_measure", e.Name + "Measure", "integer(c_int)",
				slices.Concat(works, extents, scalars, []argument{stream})})
	}
	for _, set := range e.Setters {
		suffix := "_set_data"
		if len(e.Setters) > 1 {
			suffix += fmt.Sprintf("_%d", set.Array+1)
		}
		list = append(list, procedure{"Gives what " + e.Reader(set.Array) + " reads.", name + suffix, set.Name, "", []argument{{fortranTypes[e.Elements[set.Array]] + ", intent(in)", "data(*)"}, {"integer(c_int), value", "n"}}})
	}
	if e.Until {
		list = append(list, procedure{"The steps that the last run made.", name + "_steps", e.Name + "Steps", "integer(c_int)", nil},
			procedure{"The number of its last look.", name + "_reduced", e.Name + "Reduced", "real(c_double)", nil})
	}
	if e.Whole == "" {
		list = append(list, procedure{"The ghost planes that so many steps need on a cut side of a slab.", name + "_ghost", e.Name + "Ghost", "integer(c_int)", []argument{steps}},
			procedure{"Advances a slab of the outermost axis, with ghost planes below and above its own. The value is a cudaError_t.", name + "_slab", e.Name + "Slab", "integer(c_int)",
				slices.Concat(works, slab, first, scalars, []argument{result, stream})})
	}
	if e.Apart() {
		list = append(list, procedure{"The same on two streams: what neighbours need is there when edges is done, all when inside is.", name + "_slab_apart", e.Name + "SlabApart", "integer(c_int)",
			slices.Concat(works, slab, first, scalars, []argument{result, pointer("edges"), pointer("inside")})})
	}
	if e.NoBox() == "" {
		layers := []argument{{"integer(c_int), intent(in)", "below(*)"}, {"integer(c_int), intent(in)", "above(*)"}, steps}
		list = append(list, procedure{"The layers of ghost cells that so many steps need where a box is cut across an axis, x is 0; -1 = it cannot be.", name + "_box_ghosts", e.Name + "BoxGhosts", "integer(c_int)", []argument{{"integer(c_int), value", "axis"}, steps}},
			procedure{"Advances a box, with layers of ghost cells below and above its own along each axis. The value is a cudaError_t.", name + "_box", e.Name + "Box", "integer(c_int)",
				slices.Concat(works, extents, layers, first, scalars, []argument{result, stream})})
	}
	return list
}
