package stencil

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// StepValue is what is the same at every cell of a time step and takes a function whose code branches, so that no compiler
// takes it out of a loop: a source's sine of the time. Kernels compute it once a launch for each of its steps.
type StepValue struct {
	Name string // member of grid.of_step[step of the launch] in generated code
	Type string // in C
	Code string // over scalars, extents and iteration
}

// StepValues are those of all stages' functions as StageCode has them.
func StepValues(s *Stencil) (values []StepValue) {
	for i := range s.Stages {
		if !holdsCostly(s.Stages[i].Body) {
			continue
		}
		_, of := s.perStep(i)
		for _, v := range of {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// perStep is a stage's function as arranged in which such values are variables, and what these are. What some cells alone ask for stays
// where it is: a family whose threads compute a few cells each would compute it for all.
func (s *Stencil) perStep(stage int) (body []Stmt, values []StepValue) {
	body = s.arranged(stage)
	if !holdsCostly(body) {
		return body, nil
	}
	same := sameAtCells(body)
	value := func(e Expr) (Expr, bool) {
		whole := expanded(e, same)
		if c, ok := whole.(Cond); ok && !uniform(c.If) {
			return e, true
		}
		if !s.variesByStep(whole) {
			return nil, false
		}
		p := printer{s: s, code: true}
		p.expr(whole)
		h := fnv.New32a()
		h.Write([]byte(p.String()))
		v := Var{OfStep, int(h.Sum32()), e.typ()}
		if value := (StepValue{v.member(), e.typ().C(), p.String()}); !slices.Contains(values, value) {
			values = append(values, value)
		}
		return v, true
	}
	var asked func(body []Stmt) []Stmt
	asked = func(body []Stmt) (out []Stmt) {
		for _, st := range body {
			branch, ok := st.(If)
			switch {
			case !ok:
				out = append(out, mapBody([]Stmt{st}, func(e Expr) Expr { return replaceOutermost(e, value) })...)
			case uniform(expanded(branch.Cond, same)):
				out = append(out, If{branch.Cond, asked(branch.Then), asked(branch.Else)})
			default:
				out = append(out, st)
			}
		}
		return out
	}
	if with := asked(body); len(values) > 0 {
		body = live(with)
	}
	read := map[string]bool{}
	walkBody(body, func(e Expr) {
		if v, ok := e.(Var); ok && v.Kind == OfStep {
			read[v.member()] = true
		}
	})
	return body, slices.DeleteFunc(values, func(v StepValue) bool { return !read[v.Name] }) // some were a local's that led to another
}

// member is the name of a step's value: by what it is, so that stages share it.
func (v Var) member() string { return fmt.Sprintf("value_%08x", v.Index) }

// maxExpanded bounds what stands for a local, in expressions: where locals follow from each other it grows exponentially.
const maxExpanded = 256

// sameAtCells are the locals that are set once, to what is the same at every cell and no long text, and what that is.
func sameAtCells(body []Stmt) map[int]Expr {
	same, sizes, sets := map[int]Expr{}, map[int]int{}, map[int]int{}
	var settle func(body []Stmt)
	settle = func(body []Stmt) {
		for _, st := range body {
			switch st := st.(type) {
			case Let:
				if sets[st.Local]++; sets[st.Local] > 1 {
					delete(same, st.Local)
					continue
				}
				size := 0
				walk(st.Value, func(e Expr) {
					size++
					if l, ok := e.(Local); ok {
						size += sizes[l.Index]
					}
				})
				if size > maxExpanded {
					continue
				}
				if v := expanded(st.Value, same); uniform(v) {
					same[st.Local], sizes[st.Local] = v, size
				}
			case If:
				settle(st.Then)
				settle(st.Else)
			}
		}
	}
	settle(body)
	return same
}

// expanded is e with locals' values in their place.
func expanded(e Expr, values map[int]Expr) Expr {
	return replace(e, func(e Expr) Expr {
		if l, ok := e.(Local); ok && values[l.Index] != nil {
			return values[l.Index]
		}
		return e
	})
}

// holdsCostly tells whether a block calls a function whose code branches.
func holdsCostly(body []Stmt) (found bool) {
	walkBody(body, func(e Expr) { found = found || costly(e) })
	return found
}

// costly tells whether e is a call of such a function. Roots, and powers by products, are one straight piece of code.
func costly(e Expr) bool {
	c, ok := e.(Call)
	if !ok || c.Func == "sqrt" || c.Func == "rsqrt" {
		return false
	}
	kind, _ := power(c)
	return kind != wholePower && kind != halfPower && slices.Contains(Specials[:], c.Func)
}

// variesByStep tells whether e is the same at every cell, not at every step and in every run, and calls a function that branches. What step
// scalars say is not known where a launch begins.
func (s *Stencil) variesByStep(e Expr) bool {
	calls, step, known := false, false, true
	walk(e, func(e Expr) {
		calls = calls || costly(e)
		switch e := e.(type) {
		case Scalar:
			step, known = true, known && e.Index < len(s.Scalars)
		case Var:
			step = step || e.Kind == Iteration
		}
	})
	return calls && step && known && uniform(e)
}

// straightCalls are functions whose code has no branch in float.
var straightCalls = []string{"exp", "exp2", "log", "log2", "log10"}

// branchy tells whether e is a call of a function whose code branches in the type.
func branchy(e Expr, double bool) bool {
	if !costly(e) || double {
		return costly(e)
	}
	kind, _ := power(e.(Call))
	return kind != fractionalPower && !slices.Contains(straightCalls, e.(Call).Func)
}
