package emit

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"stenciltune/kernels"
	"stenciltune/kernels/reduce"
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
	Passes []pass
}

// pass is a launch of a stage's kernel.
type pass struct {
	Entry     string
	Scope     string // namespaces within the kernel's own that hold the entry
	Arguments []kernels.Argument
	Writes    []int
	Moves     []move
}

// move says that after a launch a field's array is one that before it had another use.
type move struct{ To, From string } // like now[0], next[0]

// passes are the launches of a time step, or of several.
func passes(st *stencil.Stencil, k kernels.Kernel) []pass {
	var list []pass
	st = st.Launched(k.Stages)
	for i := range st.Stages {
		stage := &st.Stages[i]
		p := pass{Entry: kernels.StageEntry(k.Entry, i), Arguments: kernels.Arguments(st, i, k.Launch.Steps), Writes: stage.Writes(k.Launch.Steps)}
		if k.Stages > 0 {
			p.Scope = fmt.Sprintf("stage_%d::", i)
		}
		// What is written is the field from now on. A copy takes over the array it copies,
		// and what is free then is written next.
		free := slices.Clone(stage.Outputs)
		for _, w := range p.Writes {
			p.Moves = append(p.Moves, move{fmt.Sprintf("now[%d]", w), fmt.Sprintf("next[%d]", w)})
		}
		for _, c := range stage.Copies {
			if !slices.Contains(p.Writes, c.Field) {
				p.Moves = append(p.Moves, move{fmt.Sprintf("now[%d]", c.Field), fmt.Sprintf("now[%d]", c.From)})
				free = slices.DeleteFunc(free, func(f int) bool { return f == c.From })
			}
		}
		for j, w := range p.Writes {
			p.Moves = append(p.Moves, move{fmt.Sprintf("next[%d]", w), fmt.Sprintf("now[%d]", free[j])})
		}
		list = append(list, p)
	}
	return list
}

// anySize is the schedule that runs on every grid: a line of threads over all cells.
const anySize = "global/gx=256/gy=1/gz=1/wx=1/wy=1/wz=1/cw=0/zz=0/sp=1"

// stepped tells why no kernels can be emitted that step the grid of any caller, if so.
func (s Source) stepped() error {
	c, st := s.Configs[0], s.Problem.Stencil
	if st == nil || s.Problem.Hash() != c.Stencil.Hash {
		return fmt.Errorf("the config is of stencil %s with hash %.12s and another one was given: name its file", plain(c.Stencil.Name), c.Stencil.Hash)
	}
	if f := kernels.Find(s.Families, c.Schedule.Family); f != nil {
		if _, ok := f.(kernels.Tiler); !ok {
			return fmt.Errorf("%s is no stencil, and nothing is emitted that launches it on any grid: tune source prints its kernel", plain(c.Stencil.Name))
		}
	}
	return nil
}

// variant is the kernels that do some grids, by their place among the parts.
type variant struct{ Main, Rest int }

// parts are the tuned kernel, the one for the steps that are left over, and the one
// for grids that the tuned one cannot do. The last comes always, so that a program
// may be given any grid. With all, the tuned schedule comes for rows of any length and for
// 64-bit indices too, where it is not so already. The variants are in the order in which to ask whether they suit a grid.
func (s Source) parts(all bool) (list []part, variants []variant, err error) {
	if err := s.stepped(); err != nil {
		return nil, nil, err
	}
	p := s.Problem
	sc, err := space.ParseSchedule(s.Configs[0].Schedule.Text)
	if err != nil {
		return nil, nil, err
	}
	add := func(suffix, why string, p stencil.Problem, sc space.Schedule) error {
		f := kernels.Find(s.Families, sc.Family())
		tiler, ok := f.(kernels.Tiler)
		if !ok {
			return fmt.Errorf("schedule %s: no family to launch it from an emitted source", sc)
		}
		k := f.Kernel(p, sc)
		one := part{Kernel: k, Suffix: suffix, Why: why, Tiling: tiler.Tiling(p, sc), Passes: passes(p.Stencil, k)}
		if !p.Wide() {
			one.Most = 1<<31 - 1<<24 // stencil.Problem.Wide
		}
		list = append(list, one)
		return nil
	}
	both := func(suffix, why string, p stencil.Problem) error {
		variants = append(variants, variant{len(list), len(list)})
		if err := add(suffix, why, p, sc); err != nil || list[len(list)-1].Launch.Steps == 1 {
			return err
		}
		variants[len(variants)-1].Rest++
		return add(strings.Replace(suffix+"_rest", "tuned_", "", 1), "one step a launch, for the steps left over", p, kernels.Remainder(sc))
	}
	if err := both("tuned", "the tuned schedule", p); err != nil {
		return nil, nil, err
	}
	odd, wide := p.Size, p.Size
	odd[0] |= 1
	for wide.Cells() < 1<<31 {
		wide[p.Stencil.Dims-1] *= 2
	}
	oddWide := wide
	oddWide[0] |= 1
	rows := list[0].Multiple > 1 && p.Stencil.Boundary != stencil.Wrap // which takes whole vectors alone
	for _, v := range []struct {
		suffix, why string
		size        stencil.Size
		wanted      bool
	}{
		{"odd", "the same for rows of any length", odd, rows},
		{"wide", "the same for grids of 2^31 cells and more", wide, list[0].Most > 0},
		{"odd_wide", "the same for rows of any length in such grids", oddWide, rows && list[0].Most > 0},
	} {
		if all && v.wanted {
			if err := both(v.suffix, v.why, p.Resized(v.size)); err != nil {
				return nil, nil, err
			}
		}
	}
	fallback, err := space.ParseSchedule(anySize)
	if err != nil {
		return nil, nil, err
	}
	variants = append(variants, variant{len(list), len(list)})
	err = add("any", "for every grid, however small, large or odd", large(p), fallback)
	return list, variants, err
}

// large is a problem whose kernels have 64-bit indices.
func large(p stencil.Problem) stencil.Problem {
	p.Size = stencil.Size{1 << 30, 2, 1}
	p.Size[0] <<= min(1, p.Stencil.Dims-1)
	return p
}

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

func (look) CellsPerBlock() int { return reduce.CellsPerBlock }
func (look) MaxBlocks() int     { return reduce.MaxBlocks }

// lookOf is the look of a problem whose stencil has Until.
func lookOf(p stencil.Problem) *look {
	st := p.Stencil
	l := &look{
		part:  part{Kernel: reduce.Kernel(large(p)), Suffix: "look", Why: "what Until looks at"},
		Every: st.Until.Every, Before: reduce.Before(st), Overwritten: reduce.Overwritten(st),
		Fold: "reduced += numbers[b]",
		Ends: fmt.Sprintf("reduced %s %s", st.Until.Op, stencil.Number(stencil.Float64, st.Until.Limit)),
	}
	// What is not a number stays so.
	if compare := map[string]string{"min": "<", "max": ">"}[st.Reduce.Op]; compare != "" {
		l.Fold = fmt.Sprintf("if (reduced == reduced && !(reduced %s numbers[b])) reduced = numbers[b]", compare)
	}
	for _, a := range kernels.Arguments(st.Reduction(), 0, 1) {
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

//go:embed launcher.cu.tmpl
var launcherText string

var launcher = template.Must(template.New("launcher.cu.tmpl").Funcs(template.FuncMap{
	"join": strings.Join, "braces": braces[[3]int],
}).Parse(launcherText))

// view is what the launcher's template sees.
type view struct {
	exports
	Parts    []part
	Variants []variant
	Size     [3]int // the grid that was tuned for
	Axis     int    // the outermost one
	Written  []bool // fields that some launch writes
	Stages   int
	Reduce   bool
	Look     *look  // nil without Until
	Cast     string // the element type of CUDA that the exported one stands for, if any
}

// viewOf is the view of kernels, without a look.
func viewOf(s Source, parts []part, variants []variant) view {
	st, d := s.Problem.Stencil, s.dtype()
	v := view{exports: exportsOf(s.Name, st, d), Parts: parts, Variants: variants, Size: s.Problem.Size, Axis: st.Dims - 1, Stages: len(st.Stages), Reduce: st.Reduce != nil, Written: make([]bool, len(st.Fields)),
		Cast: map[stencil.DType]string{stencil.Float16: "__half", stencil.BFloat16: "__nv_bfloat16"}[d]}
	for _, k := range parts {
		for _, p := range k.Passes {
			for _, w := range p.Writes {
				v.Written[w] = true
			}
		}
	}
	return v
}

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
	case kernels.In:
		return fmt.Sprintf("now[%d]", a.Index)
	case kernels.ReadOnly:
		return fmt.Sprintf("read_only[%d]", a.Index)
	case kernels.Length:
		return fmt.Sprintf("length[%d]", a.Index)
	case kernels.Extent:
		return fmt.Sprintf("n[%d]", a.Index)
	case kernels.Iteration:
		return "first"
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
		using := ""
		if stencil.TypeSource(k.DType) != "" { // it declares an overload, which would hide CUDA's
			using = "#ifdef __CUDA_ARCH__\nusing ::__ldg;\n#endif\n"
		}
		fmt.Fprintf(&b, "// %s: %s\nnamespace %s_%s {\n%s%s%s} // namespace %[3]s_%[4]s\n\n", k.Schedule, k.Why, name, k.Suffix, using, k.Line(), k.Source)
	}
	return b.String()
}

// quiet has nvcc not warn of what a schedule has no use for: loops that do not run (128) and
// names that are not used (177).
const quiet = `#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress 128, 177
#endif
`

// cu is the kernels and a launcher in one file that needs nothing but CUDA.
func cu(s Source) ([]byte, error) {
	parts, variants, err := s.parts(true)
	if err != nil {
		return nil, err
	}
	v := viewOf(s, parts, variants)
	var b bytes.Buffer
	b.WriteString(banner(s, "//"))
	b.WriteString("#include <cuda_runtime.h>\n" + quiet)
	if v.Until {
		v.Look = lookOf(s.Problem)
		parts = append(parts, v.Look.part)
		b.WriteString("#include <math.h>\n")
	}
	// Another source of the program may hold the same kernel. Images are looked into by its name, and keep it.
	b.WriteString("\n" + strings.ReplaceAll(kernelText(s.Name, parts), `extern "C" __global__`, "static __global__"))
	fmt.Fprintf(&b, "#line 1 \"%s launcher\"\n", s.Name)
	if err := launcher.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
