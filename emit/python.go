package emit

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"stenciltune/stencil"
)

// launchText is the module's own part. It does what the launcher in launcher.cu.tmpl does, from a table of the same
// numbers; a test holds the launches of both together.
//
//go:embed launch.py
var launchText string

// pythonTable is what the module knows of its kernels. Variables of a run have the launcher's names.
type pythonTable struct {
	Name     string          `json:"name"`
	Dims     int             `json:"dims"`
	DTypes   []string        `json:"dtypes"` // of arrays, as elements are called there
	Bytes    int             `json:"bytes"`  // of an element
	Fields   []pythonField   `json:"fields"`
	Arrays   []pythonArray   `json:"arrays"`
	Scalars  []pythonScalar  `json:"scalars"`
	Lists    []pythonList    `json:"lists,omitempty"`    // of places
	Cuts     []cut           `json:"cuts"`               // by axis, x first
	Shortest *stencil.Size   `json:"shortest,omitempty"` // extents, if one must be more than 1
	Winners  []pythonWinner  `json:"winners"`
	Variants []pythonVariant `json:"variants"`
	Kernels  []pythonKernel  `json:"kernels"`
}

type pythonField struct {
	Name    string   `json:"name"`
	Written bool     `json:"written"`          // by some launch
	DTypes  []string `json:"dtypes,omitempty"` // where they are others than the elements'
}

type pythonArray struct {
	Name    string   `json:"name"`
	Indexed bool     `json:"indexed"`
	DTypes  []string `json:"dtypes,omitempty"` // as a field's
}

type pythonScalar struct {
	Name   string `json:"name"`
	Type   string `json:"type"`   // that it is rounded to
	Kernel string `json:"kernel"` // that the kernels take
}

type pythonList struct {
	Name      string   `json:"name"`
	Sources   bool     `json:"sources"`
	Source    int      `json:"source"` // with the entry
	Entry     string   `json:"entry"`
	Arguments []string `json:"arguments"`
	Threads   int      `json:"threads"` // of a block, a place each
	Most      int      `json:"most"`    // blocks
}

type pythonWinner struct {
	Device          string  `json:"device"`
	Capability      int     `json:"capability"`
	Multiprocessors int     `json:"multiprocessors"`
	Size            [3]int  `json:"n"`
	Seconds         float64 `json:"seconds"`
}

type pythonVariant struct {
	Kernels [3]int `json:"kernels"`
	Winner  int    `json:"winner"`
	Cost    int    `json:"cost"`
	AtOnce  int    `json:"at_once"`
	Text    string `json:"text"`
}

type pythonKernel struct {
	Source   int          `json:"source"`
	Passes   []pythonPass `json:"passes"`
	Block    [3]int       `json:"block"`
	Shared   int          `json:"shared"`
	Steps    int          `json:"steps"`
	Least    [3]int       `json:"least"`
	Multiple int          `json:"multiple"`
	Most     int64        `json:"most"`
	Hold     [3]int       `json:"hold"`
	Step     [3]int       `json:"step"`
	Pack     int          `json:"pack"`
	Spare    int          `json:"spare"`
	Fixed    [3]int       `json:"fixed"`
	Extra    int          `json:"extra"`
	Early    int          `json:"early"`
	Fill     int          `json:"fill"`
	Workers  int          `json:"workers"`
	Line     bool         `json:"line"`
	Cells    int          `json:"cells"`
}

type pythonPass struct {
	Entry     string      `json:"entry"`
	Arguments []string    `json:"arguments"`
	Moves     [][2]string `json:"moves"` // to, from
}

func pythonKernelOf(v view, k part) pythonKernel {
	t := k.Tiling
	one := pythonKernel{0, nil, k.Launch.Block, k.Launch.SharedBytes, k.Launch.Steps, k.Least, k.Multiple, k.Most, t.Hold, t.Step, t.Pack, t.Spare, t.Fixed, t.Extra, t.Early, t.Fill, t.Workers, t.Line, t.Cells}
	for _, p := range k.Passes {
		pass := pythonPass{Entry: p.Entry}
		for _, a := range p.Arguments {
			pass.Arguments = append(pass.Arguments, v.Argument(p, a))
		}
		for _, m := range p.Moves {
			pass.Moves = append(pass.Moves, [2]string{m.To, m.From})
		}
		one.Passes = append(one.Passes, pass)
	}
	return one
}

// pythonTypes are an element type as arrays are called there; none for none.
func pythonTypes(d stencil.DType) []string {
	switch d {
	case "":
		return nil
	case stencil.BFloat16:
		return []string{string(d), "uint16"} // its bits, for libraries that lack it
	}
	return []string{string(d.Plain())}
}

// python is a module that compiles and launches the kernels with the NVIDIA driver and NVRTC alone.
func python(s Source) ([]byte, error) {
	parts, variants, err := s.parts(true)
	if err != nil {
		return nil, err
	}
	st, d := s.Problem.Stencil, s.dtype()
	if len(st.StepScalars) > 0 {
		return nil, fmt.Errorf("the Python module does not compute step scalars, and %s has StepScalar: use --format cu", plain(st.Name))
	}
	if st.Until != nil {
		return nil, fmt.Errorf("the Python module does not look at runs, and %s has Until: use --format cu", plain(st.Name))
	}
	v := viewOf(s, parts, variants)
	table := pythonTable{Name: s.Name, Dims: st.Dims, DTypes: pythonTypes(d), Bytes: d.Size(),
		Arrays: []pythonArray{}, Scalars: []pythonScalar{}, Cuts: v.Cuts, Shortest: v.Shortest}
	for i, f := range st.Fields {
		table.Fields = append(table.Fields, pythonField{f.Name, v.Written[i], pythonTypes(f.Type)})
	}
	for i, a := range v.Arrays {
		table.Arrays = append(table.Arrays, pythonArray{pythonName(a.Name), v.ReadOnly[i].Indexed, pythonTypes(st.ReadOnly[i].Type)})
	}
	for _, a := range v.Scalars {
		table.Scalars = append(table.Scalars, pythonScalar{pythonName(a.Name), a.Type, a.Kernel})
	}
	for _, x := range v.Winners {
		table.Winners = append(table.Winners, pythonWinner(x))
	}
	for _, x := range variants {
		table.Variants = append(table.Variants, pythonVariant(x))
	}
	var b strings.Builder
	b.WriteString(banner(s, "#"))
	fmt.Fprintf(&b, "\"\"\"The tuned %s for arrays of CuPy, PyTorch and all that have __cuda_array_interface__ or DLPack.\n\n", s.Name)
	fmt.Fprintf(&b, "    import %s\n    %[1]s.run(%s, steps%s)\n\nIt needs the NVIDIA driver and NVRTC, which those libraries bring.\n\"\"\"\n\n", s.Name, pythonFields(v), pythonNamed(v))
	var sources strings.Builder
	held := map[string]int{} // sources by scope
	for _, k := range parts {
		one := pythonKernelOf(v, k)
		if k.Scope == k.Suffix {
			held[k.Scope] = len(held)
		}
		one.Source = held[k.Scope]
		table.Kernels = append(table.Kernels, one)
		text := kernelText(s.Name, []part{k})
		if text == "" {
			continue
		}
		if strings.Contains(text, `"""`) || strings.Contains(text, "\r") {
			panic("emit: a kernel that Python's raw strings cannot hold")
		}
		fmt.Fprintf(&sources, "    r\"\"\"%s\"\"\",\n", text)
	}
	if v.After != nil {
		for i, l := range v.After.Launches {
			table.Lists = append(table.Lists, pythonList{pythonName(v.Lists[i].Table), v.Lists[i].Sources, held[v.After.Scope], l.Entry, l.Arguments, v.After.Threads(), v.After.MaxBlocks()})
		}
	}
	// A list of kernels a line each: the rest is short.
	head, err := encode(table)
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer(`{"source":`, "\n  {\"source\":", `{"kernels":`, "\n  {\"kernels\":", `{"device":`, "\n  {\"device\":").Replace(strings.TrimSpace(string(head)))
	fmt.Fprintf(&b, "import json as _json\n\nTABLE = _json.loads(r\"\"\"%s\"\"\")\n\n# The kernels' sources, as the table numbers them.\nSOURCES = [\n%s]\n", text, sources.String())
	b.WriteString(launchText)
	return []byte(b.String()), nil
}

// pythonWords are Python's (its reference, 2.3.1) that C does not have, and a parameter's name.
var pythonWords = strings.Fields("False None True as assert async await class def del elif except finally from global import in is lambda nonlocal pass raise with yield steps")

// pythonName is a parameter's name: one that Python does not have gets _ behind it.
func pythonName(name string) string {
	if slices.Contains(pythonWords, name) {
		return name + "_"
	}
	return name
}

// pythonFields are the fields as a call has them.
func pythonFields(v view) string {
	if v.Single() {
		return "grid"
	}
	return "[" + strings.Join(v.Fields, ", ") + "]"
}

// pythonNamed are a call's arguments that are given by name.
func pythonNamed(v view) string {
	var b strings.Builder
	for _, a := range v.Arrays {
		fmt.Fprintf(&b, ", %s=%[1]s", pythonName(a.Name))
	}
	for _, l := range v.Lists {
		fmt.Fprintf(&b, ", %s=(%s, %[1]s)", pythonName(l.Table), l.Places)
	}
	for _, a := range v.Scalars {
		fmt.Fprintf(&b, ", %s=%[1]s", pythonName(a.Name))
	}
	return b.String()
}
