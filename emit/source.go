package emit

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// part is one kernel of an emitted source, in a namespace of its own.
type part struct {
	kernels.Kernel
	Suffix string // of its namespace
	Why    string
	Tiling kernels.Tiling
	Most   int64 // cells of the largest grid its indices reach; 0 = any
}

// anySize is the schedule that runs on every grid: a line of threads over all cells.
const anySize = "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1"

// parts are the tuned kernel, the one for the steps that are left over, and the one
// for grids that the tuned one cannot do. The last comes always, so that a program
// may be given any grid.
func (s Source) parts() ([]part, error) {
	c := s.Configs[0]
	p := s.Problem
	if p.Stencil == nil || p.Hash() != c.Stencil.Hash {
		return nil, fmt.Errorf("the config is of stencil %s with hash %.12s and another one was given: name its file", plain(c.Stencil.Name), c.Stencil.Hash)
	}
	if err := p.Stencil.Plain(); err != nil { // the launcher hands on one grid and nothing else
		return nil, fmt.Errorf("no launcher is written for %s yet: %w", plain(c.Stencil.Name), err)
	}
	sc, err := space.ParseSchedule(c.Schedule.Text)
	if err != nil {
		return nil, err
	}
	var list []part
	add := func(suffix, why string, p stencil.Problem, sc space.Schedule) error {
		f := kernels.Find(s.Families, sc.Family())
		tiler, ok := f.(kernels.Tiler)
		if !ok {
			return fmt.Errorf("schedule %s: its family cannot be launched from an emitted source", sc)
		}
		one := part{Kernel: f.Kernel(p, sc), Suffix: suffix, Why: why, Tiling: tiler.Tiling(p, sc)}
		if !p.Wide() {
			one.Most = 1<<31 - 1<<24 // stencil.Problem.Wide
		}
		list = append(list, one)
		return nil
	}
	if err := add("tuned", "the tuned schedule", p, sc); err != nil {
		return nil, err
	}
	if list[0].Launch.Steps > 1 {
		if err := add("rest", "one step a launch, for the steps left over", p, kernels.Remainder(sc)); err != nil {
			return nil, err
		}
	}
	fallback, err := space.ParseSchedule(anySize)
	if err != nil {
		return nil, err
	}
	large := p.Resized(stencil.Size{1 << 30, 2, 1}) // 64-bit indices
	large.Size[0] <<= min(1, p.Stencil.Dims-1)
	err = add("any", "for every grid, however small, large or odd", large, fallback)
	return list, err
}

// argument is a parameter of the exported functions between the grid and the steps.
type argument struct{ Type, Name string }

// extents are a grid's dimensions as parameters.
func extents(dims int) []argument {
	var list []argument
	for _, name := range []string{"nx", "ny", "nz"}[:dims] {
		list = append(list, argument{"int", name})
	}
	return list
}

// kernelParameters are the types of what every kernel takes, in order: see
// kernels.Kernel. What a stencil reads besides its grid would be listed here, in
// scalars and in kernelArguments.
func kernelParameters(element string) []string {
	return []string{"const " + element + " *", element + " *", "int", "int", "int"}
}

// kernelArguments are the launcher's variables that are passed for them.
func kernelArguments() []string { return []string{"in", "out", "n[0]", "n[1]", "n[2]"} }

// scalars are a stencil's ScalarVariables, parameters of the exported functions.
func scalars(*stencil.Stencil) []argument { return nil }

// signature is a parameter list as C.
func signature(args []argument) string {
	var list []string
	for _, a := range args {
		list = append(list, a.Type+" "+a.Name)
	}
	return strings.Join(list, ", ")
}

// prototypes declare what an emitted source exports.
func prototypes(name, element string, dims int) string {
	d := declarations(name, element, dims, nil)
	return fmt.Sprintf("%s;\n%s;\n%s;\n%s;\n", d.Run, d.SetData, d.OnDevice, d.Error)
}

// functions are the heads of the exported functions.
type functions struct{ Run, SetData, OnDevice, Error string }

// declarations name the exported functions: the two of the stencil language ("A Language
// and Optimizing Compiler for Iterative Stencil Loops", section 4), one for data that is on
// the device already, and one that tells what became of the last run.
func declarations(name, element string, dims int, scalars []argument) functions {
	data := func(params ...argument) []argument {
		return append(append(append(params, extents(dims)...), argument{"int", "iterations"}), scalars...)
	}
	return functions{
		Run:      fmt.Sprintf("void %s(%s)", name, signature(data(argument{element, "*data"}))),
		SetData:  fmt.Sprintf("void %sSetData(const %s *data, int n)", name, element),
		OnDevice: fmt.Sprintf("int %sOnDevice(%s, %s **result, void *stream)", name, signature(data(argument{element, "*grid"}, argument{element, "*scratch"})), element),
		Error:    fmt.Sprintf("int %sError(void)", name),
	}
}

//go:embed launcher.cu.tmpl
var launcherText string

var launcher = template.Must(template.New("launcher.cu.tmpl").Funcs(template.FuncMap{
	"join": strings.Join, "braces": braces[[3]int],
}).Parse(launcherText))

// view is what the launcher's template sees.
type view struct {
	Name, Element string
	Banner        string
	Dims          int
	Functions     functions
	Parts         []part
	Parameters    []string
	Arguments     []string
	Extents       []argument
}

// kernelText is the kernels' source, each in its namespace: compiled by nvcc within
// the launcher, or alone by NVRTC.
func kernelText(name string, parts []part) string {
	var b strings.Builder
	for _, k := range parts {
		fmt.Fprintf(&b, "// %s: %s\nnamespace %s_%s {\n%s} // namespace %[3]s_%[4]s\n\n", k.Schedule, k.Why, name, k.Suffix, k.Source)
	}
	return b.String()
}

// cu is the kernels and a launcher in one file that needs nothing but CUDA.
func cu(s Source) ([]byte, error) {
	parts, err := s.parts()
	if err != nil {
		return nil, err
	}
	elem, dims := element(s.Configs[0]), s.Problem.Stencil.Dims
	v := view{
		Name: s.Name, Element: elem, Banner: banner(s, "//"), Dims: dims, Parts: parts,
		Functions:  declarations(s.Name, elem, dims, scalars(s.Problem.Stencil)),
		Parameters: kernelParameters(elem), Arguments: kernelArguments(), Extents: extents(dims),
	}
	var b bytes.Buffer
	b.WriteString(v.Banner)
	b.WriteString("#include <cuda_runtime.h>\n\n")
	b.WriteString(kernelText(s.Name, parts))
	fmt.Fprintf(&b, "#line 1 \"%s launcher\"\n", s.Name)
	if err := launcher.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// geometry is how to launch one kernel of an image.
type geometry struct {
	Schedule       string `json:"schedule"`
	Entry          string `json:"entry"`
	Grid           [3]int `json:"grid"` // on the config's grid
	Block          [3]int `json:"block"`
	SharedBytes    int    `json:"shared_bytes"`
	StepsPerLaunch int    `json:"steps_per_launch"`
	Least          [3]int `json:"least_extents"`
	Multiple       int    `json:"row_multiple"`
}

// Image is a program to be compiled to PTX or CUBIN, and the document that says how
// to launch its kernels: the tuned one first.
type Image struct {
	Kernel   kernels.Kernel // its Source holds all kernels; its Entry is the tuned one's
	Geometry []byte
}

// ImageOf is the image of a source.
func ImageOf(s Source) (Image, error) {
	if err := s.check(); err != nil {
		return Image{}, err
	}
	parts, err := s.parts()
	if err != nil {
		return Image{}, err
	}
	c := s.Configs[0]
	var list []geometry
	for _, k := range parts {
		l := k.Launch
		l.Grid = k.Tiling.Blocks(size(c))
		list = append(list, geometry{k.Schedule.String(), k.Entry, l.Grid, l.Block, l.SharedBytes, l.Steps, k.Least, max(k.Multiple, 1)})
	}
	line, err := encode(struct {
		Format     string     `json:"format"`
		Name       string     `json:"name"`
		Stencil    string     `json:"stencil_hash"`
		DType      string     `json:"dtype"`
		Size       []int      `json:"size"`
		Device     string     `json:"device"`
		Capability string     `json:"compute_capability"`
		Parameters []string   `json:"parameters"`
		Kernels    []geometry `json:"kernels"`
	}{"stenciltune.geometry/v1", s.Name, c.Stencil.Hash, c.Stencil.DType, c.Problem.Size, plain(c.Device.Name), c.Device.ComputeCapability,
		kernelParameters(element(c)), list})
	if err != nil {
		return Image{}, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(line), "", "  "); err != nil {
		return Image{}, err
	}
	b.WriteByte('\n')
	k := parts[0].Kernel
	k.Source = banner(s, "//") + kernelText(s.Name, parts)
	return Image{Kernel: k, Geometry: b.Bytes()}, nil
}
