package emit

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"stenciltune/kernels"
	"stenciltune/kernels/reduce"
	"stenciltune/stencil"
)

// look is how a run's Reduce is computed and compared with its Until.
type look struct {
	part
	Every       int
	Before      bool     // the step before a look goes alone
	Overwritten []int    // fields of which that step needs a copy
	Arguments   []string // the launcher's variables for the kernel's parameters
	Fold        string   // statement that joins the number of block b
	Ends        string   // condition that ends the run
}

func (look) CellsPerBlock() int { return kernels.FoldCells }
func (look) MaxBlocks() int     { return kernels.MaxFoldBlocks }

// lookOf is the look of a problem whose stencil has Until.
func lookOf(p stencil.Problem) *look {
	st := p.Stencil
	l := &look{
		part:  part{Kernel: reduce.Kernel(large(p)), Suffix: "look", Scope: "look", Why: "what Until looks at"},
		Every: st.Until.Every, Before: reduce.Before(st), Overwritten: reduce.Overwritten(st),
		Fold: "reduced += numbers[b]",
		Ends: fmt.Sprintf("reduced %s %s", st.Until.Op, stencil.Number(stencil.Float64, st.Until.Limit)),
	}
	// What is not a number stays so.
	if compare := map[string]string{"min": "<", "max": ">"}[st.Reduce.Op]; compare != "" {
		l.Fold = fmt.Sprintf("if (reduced == reduced && !(reduced %s numbers[b])) reduced = numbers[b]", compare)
	}
	for _, a := range kernels.Given(p, kernels.Arguments(st.Reduction(), 0, 1)) {
		name := "run." + ofRun(a)
		switch {
		case a.Kind == kernels.In && a.Index < len(st.Fields):
			name = "was." + ofRun(a)
		case a.Kind == kernels.In:
			a.Index -= len(st.Fields)
			name = "run." + ofRun(a)
		case a.Kind == kernels.Out:
			name = "partial"
		case a.Kind == kernels.Iteration:
			name = "iteration"
		}
		l.Arguments = append(l.Arguments, "&"+name)
	}
	return l
}

// before is what each time step begins with, for its step scalars.
type before struct {
	Scope     string // of the part whose kernels compute them: they are right for any grid
	Launches  []stepLaunch
	Arguments []string
	Doubles   int
}

func (before) FoldCells() int     { return kernels.FoldCells }
func (before) MaxFoldBlocks() int { return kernels.MaxFoldBlocks }
func (before) MaxFoldParts() int  { return kernels.MaxFoldParts }

// stepLaunch is one launch of them.
type stepLaunch struct {
	Scope, Entry string
	Threads      int
	Reads        bool // all cells, in as many blocks as the grid asks for; else it is one
}

// beforeOf is what a time step of a problem begins with, by the kernels of a part; nil if there is nothing.
func beforeOf(p stencil.Problem, of part) *before {
	if len(p.Stencil.StepScalars) == 0 {
		return nil
	}
	b := &before{Scope: of.Scope, Doubles: kernels.StepDoubles(p.Stencil)}
	for _, l := range kernels.StepLaunches(p, of.Entry) {
		b.Launches = append(b.Launches, stepLaunch{l.Scope, l.Entry, l.Launch.Threads(), l.Reads})
	}
	for _, a := range kernels.Given(p, kernels.StepArguments(p.Stencil)) {
		b.Arguments = append(b.Arguments, "&run."+ofRun(a))
	}
	return b
}

// after is what each time step ends with, for its lists of places.
type after struct {
	Scope    string // of the part whose kernels do it
	Launches []listLaunch
}

func (after) Threads() int   { return kernels.SparseThreads }
func (after) MaxBlocks() int { return kernels.MaxSparseBlocks }

// listLaunch is the launch of a list.
type listLaunch struct {
	Scope, Entry string
	Arguments    []string
}

// afterOf is what a time step of a problem ends with, by the kernels of a part; nil if there is nothing.
func afterOf(p stencil.Problem, of part) *after {
	if len(p.Stencil.Sparse) == 0 {
		return nil
	}
	a := &after{Scope: of.Scope}
	for i, l := range kernels.SparseLaunches(p, of.Entry, 1) {
		var names []string
		for _, one := range kernels.Given(p, kernels.SparseArguments(p.Stencil, i)) {
			names = append(names, ofRun(one))
		}
		a.Launches = append(a.Launches, listLaunch{l.Scope, l.Entry, names})
	}
	return a
}

//go:embed *.cu.tmpl
var templates embed.FS

var launcher = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("launcher.cu.tmpl").Funcs(template.FuncMap{
		"join": strings.Join, "braces": braces[[3]int], "least": func(n *stencil.Size) string { return braces(*n) },
	}).ParseFS(templates, "*.cu.tmpl"))
})

// view is what the launcher's template sees.
type view struct {
	exports
	Parts    []part
	Variants []variant
	Winners  []winner
	Axis     int    // the outermost one
	Written  []bool // fields that some launch writes
	Stages   int
	Reduce   bool
	Look     *look   // nil without Until
	Before   *before // nil without step scalars
	After    *after  // nil without sources and receivers
	Cast     string  // the element type of CUDA that the exported one stands for, if any
	Plain    string  // of a source for pitched grids: the name of the one beside it for others
}

// viewOf is the view of kernels, without a look.
func viewOf(s Source, parts []part, variants []variant) view {
	st, d := s.Problem.Stencil, s.dtype()
	v := view{exports: exportsOf(s), Parts: parts, Variants: variants, Winners: s.winners(), Axis: st.Dims - 1, Stages: len(st.Stages), Reduce: st.Reduce != nil, Written: make([]bool, len(st.Fields)),
		Cast: map[stencil.DType]string{stencil.Float16: "__half", stencil.BFloat16: "__nv_bfloat16"}[d.Plain()]}
	v.Before, v.After = beforeOf(s.Problem, parts[len(parts)-1]), afterOf(s.Problem, parts[len(parts)-1])
	for _, k := range parts {
		for _, p := range k.Passes {
			for _, w := range p.Writes {
				v.Written[w] = true
			}
		}
	}
	return v
}

// Outer is the outermost axis as a cut.
func (v view) Outer() cut { return v.Cuts[v.Axis] }

// Numbers is how many say what grid a run is of.
func (v view) Numbers() int {
	if v.Pitched() {
		return 6
	}
	return 4
}

// Begin is the place of the last of them, the bytes on whose multiples all arrays, and rows of pitched ones, begin.
func (v view) Begin() int { return v.Numbers() - 1 }

// Argument is the launcher's variable that is passed for a kernel's parameter.
func (view) Argument(p pass, a kernels.Argument) string {
	if a.Kind == kernels.Out {
		return fmt.Sprintf("next[%d]", p.Writes[a.Index])
	}
	return ofRun(a)
}

// ofRun is the variable of a run that is passed for a parameter which is no output.
func ofRun(a kernels.Argument) string {
	switch a.Kind {
	case kernels.In, kernels.Changed:
		return fmt.Sprintf("now[%d]", a.Index)
	case kernels.ReadOnly:
		return fmt.Sprintf("read_only[%d]", a.Index)
	case kernels.Length:
		return fmt.Sprintf("length[%d]", a.Index)
	case kernels.Extent:
		return fmt.Sprintf("n[%d]", a.Index)
	case kernels.Leading:
		return fmt.Sprintf("n[%d]", 3+a.Index)
	case kernels.Plane:
		return fmt.Sprintf("planes[%d]", a.Index)
	case kernels.Iteration:
		return "first"
	case kernels.Places:
		return fmt.Sprintf("place[%d]", a.Index)
	case kernels.PlaceCount:
		return fmt.Sprintf("places[%d]", a.Index)
	case kernels.Table:
		return fmt.Sprintf("table[%d]", a.Index)
	case kernels.TableRows:
		return fmt.Sprintf("rows[%d]", a.Index)
	}
	return a.Name
}

// Unneeded lists the fields that no launch writes.
func (v view) Unneeded() string {
	var names []string
	for f, written := range v.Written {
		if !written {
			names = append(names, fmt.Sprintf("scratch[%d]", f))
		}
	}
	return strings.Join(names, ", ")
}

// kernelText is the kernels' source, each in its namespace: compiled by nvcc within
// the launcher, or alone by NVRTC.
func kernelText(name string, parts []part) string {
	var b strings.Builder
	for _, k := range parts {
		if k.Scope != k.Suffix {
			continue
		}
		using := ""
		if declaresLoads(k.Kernel) { // which would hide CUDA's
			using = "#ifdef __CUDA_ARCH__\nusing ::__ldg;\n#endif\n" + hostLoads
		}
		fmt.Fprintf(&b, "// %s: %s\nnamespace %s_%s {\n%s%s%s} // namespace %[3]s_%[4]s\n\n", k.Schedule, k.Why, name, k.Suffix, using, k.Line(), k.Source)
	}
	return b.String()
}

// declaresLoads tells whether a kernel has a type with loads (__ldg) of its own.
func declaresLoads(k kernels.Kernel) bool { return strings.Contains(k.Source, " __ldg(const ") }

// hostLoads is for types that declare loads of their own (__ldg) on the device's side alone.
const hostLoads = `#if !defined __CUDA_ARCH__ && defined __CUDACC__ // nvcc's look at the host's side, which has no such load
template <class P> __device__ P __ldg(const P *);
#endif
`

// quiet has nvcc not warn of what a schedule has no use for: loops that do not run (128) and
// names that are not used (177). Of its host compiler, asked to warn of all, the same and members that are zero.
const quiet = `#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress 128, 177
#endif
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
`

// cu is the kernels and a launcher in one file that needs nothing but CUDA.
func cu(s Source) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(banner(s, "//"))
	b.WriteString("#include <cuda_runtime.h>\n#include <math.h>\n#include <mutex>\n#include <new>\n#include <string.h>\n" + quiet)
	for _, one := range s.layouts() {
		if err := one.launched(&b, s.Name); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// launched writes the kernels and their launcher; plain is the name of the source for grids without a pitch.
func (s Source) launched(b *bytes.Buffer, plain string) error {
	s.Problem.Partial = exportsOf(s).Apart()
	parts, variants, err := s.parts(true)
	if err != nil {
		return err
	}
	v := viewOf(s, parts, variants)
	v.Plain = plain
	if v.Until {
		v.Look = lookOf(s.Problem)
		parts = append(parts, v.Look.part)
	}
	// Another source of the program may hold the same kernel. Images are looked into by its name, and keep it.
	b.WriteString("\n" + strings.ReplaceAll(kernelText(s.Name, parts), `extern "C" __global__`, "static __global__"))
	fmt.Fprintf(b, "#line 1 \"%s launcher\"\n", s.Name)
	return launcher().Execute(b, v)
}
