package stencil

import (
	"fmt"
	"strconv"
	"strings"
)

// Generated code is CUDA C++ over these names and no others. Every one is ours
// and every number is printed anew, so no text of a stencil file reaches a compiler.
//
//	T                      the element type of a floating-point stencil
//	v0, v1 ...             locals
//	get(dx, dy, dz)        the field before the stage, at an offset; get_0, get_1 ... where there are several
//	ro_0(dx, dy, dz) ...   read-only arrays at an offset from the own cell
//	read_0(i) ...          read-only arrays by index (long long); it must clamp i to the array's ends
//	s_0, s_1 ...           scalars
//	sum(0), sum(1) ...     weighted sums, in the rest of a cell function (Split)
//	px, py, pz             the own cell (int); nx, ny, nz the grid's extents (int)
//	iteration              the time step (int), 1 for the first; grid.iteration the launch's first
//	grid.of_step[i].value_0a ...   values of the launch's step i (StepValues)
//	out_0, out_1 ...       where a stage has several outputs: references, in the stage's order
//	value                  in EdgeValue: the nearest cell inside; px, py, pz lie outside. Of sources: their value
//	value_0, value_1 ...   in Reduce: the own cell's new fields; get() is the state before the step
//	quotient, square_root, reciprocal_root, exponential, logarithm, logarithm2, logarithm10, power, whole_power, half_power, arctangent   of ArithmeticSource
//	to_whole, whole_part   of WholeSource
//	narrowed, to_integer, wrap_add, wrap_sub, wrap_mul, wrap_neg, divide, modulo, int_min, int_max, int_abs, rounded_mul   of HelperSource

// CellSource is the body of the first stage's function in CUDA C++. A stage of one
// output ends with return VALUE, others assign to out_0 ... and return.
func CellSource(s *Stencil) string { return StageSource(s, 0) }

// StageSource is the body of a stage's function.
func StageSource(s *Stencil, stage int) string {
	return printer{s: s}.text(s.Stages[stage].Body)
}

// StageCode is the same for a GPU: quotients, roots, exponentials, logarithms, powers and arc tangents are calls of ArithmeticSource, a division by a
// constant is a product (of floating-point elements; an integer stencil keeps its own), sums are collected (arranged), values of a step are read (StepValues), short alternatives are computed before
// one is taken (straight), and what branches, or is repeated in a long text, is said once (named). RIM is a constant of the text: whether
// the cell may be near a high end of an axis, as HighEnd asks.
func StageCode(s *Stencil, stage int) string {
	body, _ := s.perStep(stage)
	return printer{s: s, code: true, rim: true}.text(named(s.straight(body)))
}

// EdgeSource is the body of a field's EdgeValue function; "" without one.
func EdgeSource(s *Stencil, field int) string {
	return printer{s: s}.text(s.Fields[field].Edge)
}

// EdgeCode is the same for a GPU, like StageCode.
func EdgeCode(s *Stencil, field int) string {
	return printer{s: s, code: true}.text(s.Fields[field].Edge)
}

// ReduceSource is the body of the function that Reduce applies to each cell; ""
// without one.
func ReduceSource(s *Stencil) string {
	if s.Reduce == nil {
		return ""
	}
	return printer{s: s}.text(s.Reduce.Body)
}

type printer struct {
	strings.Builder
	s    *Stencil
	code bool // for a GPU, not to be read or hashed
	cuda bool // the same in C's own operations
	rim  bool // conditions on high ends are asked where RIM is true alone
}

// approximate tells whether operations are as StageCode says. An integer stencil's answer is compared exactly: each of its operations
// is C's own, rounded by itself.
func (p *printer) approximate() bool { return p.code && p.s.DType.Floating() }

// text is a body, printed.
func (p printer) text(body []Stmt) string {
	p.body(body, "")
	return p.String()
}

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *printer) body(body []Stmt, indent string) {
	for _, st := range body {
		p.WriteString(indent)
		switch st := st.(type) {
		case Let:
			if st.Declare {
				p.WriteString(st.Type.C() + " ")
			}
			p.printf("v%d = ", st.Local)
			p.expr(st.Value)
			p.WriteString(";\n")
		case Return:
			if len(st.Values) == 1 {
				p.WriteString("return ")
				p.expr(st.Values[0])
				p.WriteString(";\n")
				continue
			}
			for i, v := range st.Values {
				p.printf("out_%d = ", i)
				p.expr(v)
				p.WriteString(";\n" + indent)
			}
			p.WriteString("return;\n")
		case If:
			p.WriteString("if (")
			p.expr(st.Cond)
			p.WriteString(") {\n")
			p.body(st.Then, indent+"  ")
			if len(st.Else) > 0 {
				p.WriteString(indent + "} else {\n")
				p.body(st.Else, indent+"  ")
			}
			p.WriteString(indent + "}\n")
		}
	}
}

// How tightly what is printed binds in C; binary operators have their precedence.
const (
	bindsCond    = 0
	bindsUnary   = 7
	bindsPrimary = 8
)

// helped tells whether an operation is printed as a call of a helper: signed
// integers must wrap, and no divisor may be 0 or, signed, -1.
func helped(e Binary) bool {
	if e.Type.Floating() || e.Type == Bool {
		return false
	}
	if precedence[e.Op] < precedence["*"] || e.Op == "*" {
		return e.Type.signed()
	}
	c, ok := e.Y.(Int)
	return !ok || c.Value == 0 || c.Value == -1
}

func binds(e Expr) int {
	switch e := e.(type) {
	case Cond:
		return bindsCond
	case Binary:
		if helped(e) {
			return bindsPrimary
		}
		return precedence[e.Op]
	case Neg:
		if !e.typ().signed() {
			return bindsUnary
		}
	case Not:
		return bindsUnary
	case Cast:
		if !e.Type.Floating() && !e.X.typ().Floating() {
			return bindsUnary
		}
	}
	return bindsPrimary
}

func (p *printer) parens(e Expr, parens bool) {
	if parens {
		p.WriteByte('(')
	}
	p.expr(e)
	if parens {
		p.WriteByte(')')
	}
}

// call prints name(args).
func (p *printer) call(name string, args ...Expr) {
	p.WriteString(name + "(")
	for i, a := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(a)
	}
	p.WriteByte(')')
}

var helperNames = map[string]string{
	"+": "wrap_add", "-": "wrap_sub", "*": "wrap_mul", "/": "divide", "%": "modulo",
	"min": "int_min", "max": "int_max", "abs": "int_abs",
}

// name is what a function is called by.
func (p *printer) name(function string) string {
	if h, ok := helperNames[function]; ok {
		return h
	}
	if h, ok := approximations[function]; ok && p.approximate() {
		return h
	}
	return function
}

// computed tells whether arithmetic may have given an integer of 32 bits or more.
func computed(e Expr) bool {
	found := false
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Neg, Call:
			found = true
		case Binary:
			found = found || e.Type.whole()
		case Local, Get, Sum: // what an earlier stage or step computed may still be in a register
			found = found || !e.typ().small()
		}
	})
	return found && e.typ().whole() && !e.typ().small()
}

// uniform tells what is the same at every cell of a step.
func uniform(e Expr) bool {
	same := true
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Get, Read, ReadAt, Local, Sum:
			same = false
		case Var:
			same = same && (e.Kind == Extent || e.Kind == Iteration)
		}
	})
	return same
}

var approximations = map[string]string{"sqrt": "square_root", "rsqrt": "reciprocal_root", "exp": "exponential", "log": "logarithm", "log2": "logarithm2", "log10": "logarithm10", "atan": "arctangent"}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case Num:
		p.WriteString(e.Type.C() + "(" + numText(e.Value) + ")")
	case Int:
		p.WriteString(intText(e))
	case Local:
		p.WriteString("v" + strconv.Itoa(e.Index))
	case Get:
		name := "get"
		if len(p.s.Fields) > 1 {
			name += "_" + strconv.Itoa(e.Field)
		}
		p.printf("%s(%d, %d, %d)", name, e.At[0], e.At[1], e.At[2])
	case Read:
		p.printf("ro_%d(%d, %d, %d)", e.Array, e.At[0], e.At[1], e.At[2])
	case ReadAt:
		p.call("read_"+strconv.Itoa(e.Array), e.Index)
	case Scalar:
		p.WriteString("s_" + strconv.Itoa(e.Index))
	case Var:
		p.variable(e)
	case Sum:
		p.printf("sum(%d)", e.Index)
	case Neg:
		if e.typ().signed() {
			p.call("wrap_neg", e.X)
			return
		}
		p.WriteByte('-')
		_, negative := e.X.(Neg)
		p.parens(e.X, negative || binds(e.X) < bindsUnary)
	case Not:
		p.WriteByte('!')
		p.parens(e.X, binds(e.X) < bindsUnary)
	case Cast:
		switch {
		case e.Type.Floating():
			if c, ok := e.X.(Cast); ok && p.code {
				switch {
				case p.s.wholeWithin(c.X, c.Type): // it changes nothing
					e.X = c.X
				case c.Type.small() && c.X.typ().Floating():
					low, high := c.Type.limits()
					p.WriteString(e.Type.C() + "(")
					p.call("whole_part", c.X, Int{low, Type(Int32)}, Int{high, Type(Int32)})
					p.WriteByte(')')
					return
				}
			}
			p.call(e.Type.C(), e.X)
		case p.code && p.s.wholeWithin(e.X, e.Type):
			if DType(e.Type) != Int32 {
				p.WriteString("(" + e.Type.C() + ")")
			}
			p.call("to_whole", e.X)
		case e.X.typ().Floating():
			low, high := e.Type.limits()
			p.call("to_integer", e.X, Int{low, e.Type}, Int{high, e.Type})
		case (p.code || p.cuda) && e.Type.small() && computed(e.X):
			p.call("narrowed<"+e.Type.C()+">", e.X)
		default:
			p.WriteString("(" + e.Type.C() + ")")
			p.parens(e.X, binds(e.X) < bindsUnary)
		}
	case Binary:
		if helped(e) {
			p.call(helperNames[e.Op], e.X, e.Y)
			return
		}
		if p.code && e.Op == "*" && e.Type.Floating() && !p.s.DType.Floating() {
			p.call("rounded_mul", e.X, e.Y)
			return
		}
		// A quotient by a root is one operation on a GPU, not two long ones.
		if root, ok := e.Y.(Call); ok && e.Op == "/" && root.Func == "sqrt" && e.Type.Floating() && p.s.DType.Floating() {
			p.parens(e.X, binds(e.X) < binds(e))
			p.WriteString(" * ")
			p.call(p.name("rsqrt"), root.Args...)
			return
		}
		if p.approximate() && e.Op == "/" && e.Type.Floating() {
			if c, ok := e.Y.(Num); ok && finite(1/c.Value) {
				p.parens(e.X, binds(e.X) < binds(e))
				p.WriteString(" * " + e.Type.C() + "(" + numText(1/c.Value) + ")")
				return
			}
			if uniform(e.Y) { // compilers take what all cells divide by out of their loops, but not approximations
				if one, is := e.X.(Num); is && one.Value == 1 {
					p.WriteString(e.Type.C() + "(1) / ")
					p.parens(e.Y, binds(e.Y) <= binds(e))
					return
				}
				p.parens(e.X, binds(e.X) < binds(e))
				p.WriteString(" * (" + e.Type.C() + "(1) / ")
				p.parens(e.Y, binds(e.Y) <= binds(e))
				p.WriteString(")")
				return
			}
			p.call("quotient", e.X, e.Y)
			return
		}
		// C groups to the left: only the right operand needs parentheses at equal
		// precedence. Signs get them too, for two minus signs are a decrement.
		p.parens(e.X, binds(e.X) < binds(e))
		p.WriteString(" " + e.Op + " ")
		_, negative := e.Y.(Neg)
		p.parens(e.Y, negative || binds(e.Y) <= binds(e))
	case Cond:
		p.parens(e.If, binds(e.If) == bindsCond)
		p.WriteString(" ? ")
		p.parens(e.Then, binds(e.Then) == bindsCond)
		p.WriteString(" : ")
		p.parens(e.Else, binds(e.Else) == bindsCond)
	case Call:
		if p.approximate() {
			if v, ok := number(e); ok && finite(v) { // compilers do not compute approximations
				p.expr(Num{v, e.Type})
				return
			}
			if code, args := powerCode(e); code != "" {
				p.call(code, args...)
				return
			}
			if x, factor := scaled(e.Args[0]); e.Func == "exp" && factor != nil {
				e.Args = []Expr{x, factor}
			}
		}
		p.call(p.name(e.Func), e.Args...)
	default:
		panic(fmt.Sprintf("stencil: unknown expression %T", e))
	}
}

// scaled is an expression as another times a factor that is the same at every cell; nil if it has none.
func scaled(e Expr) (x, factor Expr) {
	switch e := e.(type) {
	case Neg:
		if x, factor = scaled(e.X); factor != nil {
			return x, Neg{factor}
		}
	case Binary:
		switch {
		case !e.Type.Floating():
		case e.Op == "*" && uniform(e.Y):
			return e.X, e.Y
		case e.Op == "*" && uniform(e.X):
			return e.Y, e.X
		case e.Op == "/" && uniform(e.Y):
			return e.X, Binary{"/", Num{1, e.Type}, e.Y, e.Type}
		}
	}
	return e, nil
}

func (p *printer) variable(e Var) {
	text := ""
	switch e.Kind {
	case Position:
		text = "p" + "xyz"[e.Index:e.Index+1]
	case Extent:
		text = "n" + "xyz"[e.Index:e.Index+1]
	case Iteration:
		text = "iteration"
	case OfStep:
		text = "grid.of_step[iteration - grid.iteration]." + e.member()
	case Nearest:
		text = "value"
	case Updated:
		text = "value_" + strconv.Itoa(e.Index)
	case HighEnd:
		text = fmt.Sprintf("p%[1]c >= n%[1]c - %[2]d", "xyz"[e.Index%3], e.Index/3)
		if p.rim {
			text = "RIM && " + text
		}
		text = "(" + text + ")"
	}
	if DType(e.Type) == Int64 && e.Kind <= Iteration { // int outside an index
		text = "(" + DType(e.Type).C() + ")" + text
	}
	p.WriteString(text)
}

// Number prints a value of an element type as a constant of generated code.
func Number(d DType, v float64) string {
	if d.Floating() {
		return numText(v)
	}
	return intText(Int{Type(d).fromFloat(v), Type(d)})
}

// numText prints the shortest decimal that reads back as the same double, always
// with a point or exponent so that C takes it for a double.
func numText(v float64) string {
	t := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(t, ".e") {
		t += ".0"
	}
	return t
}

// intText prints an integer constant of its own type in C.
func intText(e Int) string {
	suffix := ""
	switch t := DType(e.Type); {
	case e.Type == Bool:
		return strconv.FormatBool(e.Value != 0)
	case t == Uint64:
		return strconv.FormatUint(uint64(e.Value), 10) + "ull"
	case t == Uint32:
		suffix = "u"
	case t == Int64:
		suffix = "ll"
	case t != Int32:
		return "(" + e.Type.C() + ")" + intText(Int{e.Value, Type(Int32)})
	}
	low, _ := e.Type.limits()
	switch {
	case e.Value == low && low < 0: // C has no literal for it
		return fmt.Sprintf("(%d%s - 1)", low+1, suffix)
	case e.Value < 0:
		return fmt.Sprintf("(%d%s)", e.Value, suffix)
	}
	return strconv.FormatInt(e.Value, 10) + suffix
}
