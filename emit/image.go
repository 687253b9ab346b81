package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"stenciltune/kernels"
	"stenciltune/stencil"
)

// geometry is how to launch one kernel of an image.
type geometry struct {
	Schedule       string     `json:"schedule"`
	Entry          string     `json:"entry"` // of the first stage
	Grid           [3]int     `json:"grid"`  // on the config's grid
	Block          [3]int     `json:"block"`
	SharedBytes    int        `json:"shared_bytes"`
	StepsPerLaunch int        `json:"steps_per_launch"`
	Least          [3]int     `json:"least_extents"`
	Multiple       int        `json:"row_multiple"`
	Stages         []stageDoc `json:"stages"` // launched one after the other
}

// stageDoc is what a stage's kernel takes and writes. Fields and arrays are numbered
// as the document lists them.
type stageDoc struct {
	Entry      string         `json:"entry"`
	Parameters []parameterDoc `json:"parameters"`
	Copies     [][2]int       `json:"copies,omitempty"` // fields that take over another one's array, unwritten: {2, 0} if 2 becomes 0's
}

// parameterDoc is one parameter of a kernel.
type parameterDoc struct {
	Type  string `json:"type"`
	Holds string `json:"holds"`           // field, new_field, read_only, length, extent, iteration, scalar, places, places_count, table or table_rows
	Index *int   `json:"index,omitempty"` // of the field, array, axis, scalar or list
}

// listDoc is what sources or receivers do after each launch of one step, with a thread for each place up to most_blocks blocks.
type listDoc struct {
	Name       string         `json:"name"`
	Sources    bool           `json:"sources"` // else receivers
	Entry      string         `json:"entry"`
	Block      [3]int         `json:"block"`
	MostBlocks int            `json:"most_blocks"`
	Parameters []parameterDoc `json:"parameters"`
}

// listDocs describes what a step of a problem ends with.
func listDocs(p stencil.Problem, of part, elem string) (list []listDoc) {
	for i, l := range kernels.SparseLaunches(p, of.Entry, 1) {
		a := &p.Stencil.Sparse[i]
		list = append(list, listDoc{a.Name, a.Sources(), l.Entry, l.Launch.Block, kernels.MaxSparseBlocks, parameterDocs(kernels.SparseArguments(p.Stencil, i), nil, elem)})
	}
	return list
}

var holds = map[kernels.ArgumentKind]string{
	kernels.In: "field", kernels.Out: "new_field", kernels.ReadOnly: "read_only", kernels.Length: "length",
	kernels.Extent: "extent", kernels.Iteration: "iteration", kernels.Scalar: "scalar", kernels.Changed: "field",
	kernels.Places: "places", kernels.PlaceCount: "places_count", kernels.Table: "table", kernels.TableRows: "table_rows",
}

// parameterDocs describes a kernel's parameters; writes are the fields that it writes, by the numbers of those arguments.
func parameterDocs(arguments []kernels.Argument, writes []int, elem string) (list []parameterDoc) {
	for _, a := range arguments {
		one := parameterDoc{Type: strings.TrimSuffix(strings.Replace(a.C, "T *", elem+" *", 1), "__restrict__"), Holds: holds[a.Kind]}
		if a.Type != "" {
			one.Type = element(a.Type) + " *"
			if a.Kind != kernels.Out && a.Kind != kernels.Changed {
				one.Type = "const " + one.Type
			}
		}
		switch a.Kind {
		case kernels.Iteration:
		case kernels.Out:
			one.Index = &writes[a.Index]
		default:
			one.Index = &a.Index
		}
		list = append(list, one)
	}
	return list
}

// stageDocs describes the launches of a kernel.
func stageDocs(st *stencil.Stencil, k part, elem string) []stageDoc {
	var list []stageDoc
	for i, p := range k.Passes {
		d := stageDoc{Entry: p.Entry, Parameters: parameterDocs(p.Arguments, p.Writes, elem)}
		if k.Launch.Steps == 1 {
			for _, c := range st.Launched(k.Stages).Stages[i].Copies {
				d.Copies = append(d.Copies, [2]int{c.Field, c.From})
			}
		}
		list = append(list, d)
	}
	return list
}

// Image is a program to be compiled to PTX or CUBIN, and the document that says how
// to launch its kernels: the tuned one first.
type Image struct {
	Kernel   kernels.Kernel // its Source holds all kernels; its Entry is the tuned one's
	Geometry []byte
}

// ImageOf is the image of a source. Its kernels only step: Reduce and Until are left to
// the program that launches them.
func ImageOf(s Source) (Image, error) {
	if err := s.check(); err != nil {
		return Image{}, err
	}
	if err := s.stepped(); err != nil {
		return Image{}, err
	}
	if st := s.Problem.Stencil; len(st.StepScalars) > 0 {
		return Image{}, fmt.Errorf("an image has no launcher, which computes the step scalars that %s has before each step: use --format cu", plain(st.Name))
	}
	parts, _, err := s.parts(false)
	if err != nil {
		return Image{}, err
	}
	c, st := s.Configs[0], s.Problem.Stencil
	elem := element(s.dtype())
	var list []geometry
	for _, k := range parts {
		l := k.Launch
		l.Grid = k.Tiling.Blocks(size(c))
		list = append(list, geometry{k.Schedule.String(), k.Entry, l.Grid, l.Block, l.SharedBytes, l.Steps, k.Least, max(k.Multiple, 1), stageDocs(st, k, elem)})
	}
	var parameters, fields, temporary, readOnly, scalars []string
	for _, p := range list[0].Stages[0].Parameters {
		parameters = append(parameters, p.Type)
	}
	for _, f := range st.Fields {
		fields = append(fields, f.Name)
		if f.Temporary {
			temporary = append(temporary, f.Name)
		}
	}
	for _, a := range st.ReadOnly {
		readOnly = append(readOnly, a.Name)
	}
	for _, a := range st.Scalars {
		scalars = append(scalars, a.Name)
	}
	line, err := encode(struct {
		Format     string     `json:"format"`
		Name       string     `json:"name"`
		Stencil    string     `json:"stencil_hash"`
		DType      string     `json:"dtype"`
		Size       []int      `json:"size"`
		Device     string     `json:"device"`
		Capability string     `json:"compute_capability"`
		Fields     []string   `json:"fields"`
		Temporary  []string   `json:"temporary,omitempty"` // of them: no launch need leave anything in them
		ReadOnly   []string   `json:"read_only,omitempty"`
		Scalars    []string   `json:"scalars,omitempty"`
		Parameters []string   `json:"parameters"` // of the first kernel's first stage
		Kernels    []geometry `json:"kernels"`
		Lists      []listDoc  `json:"lists,omitempty"`
	}{"stenciltune.geometry/v1", s.Name, c.Stencil.Hash, c.Stencil.DType, c.Problem.Size, plain(c.Device.Name), c.Device.ComputeCapability,
		fields, temporary, readOnly, scalars, parameters, list, listDocs(s.Problem, parts[len(parts)-1], elem)})
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
