package stencil

// Stmt is one statement of a cell function. Loops are unrolled while parsing, so
// there is none here.
type Stmt interface{ stmt() }

// Let declares a local variable, or sets it again. Locals are numbered in order
// of declaration; the source's names never reach generated code.
type Let struct {
	Local   int
	Type    Type
	Value   Expr // of that type
	Declare bool
}

// Return ends the function: one value for each output, of its type.
type Return struct{ Values []Expr }

// If runs one of two blocks; a local declared in a block is known in it only.
type If struct {
	Cond       Expr // Bool
	Then, Else []Stmt
}

func (Let) stmt()    {}
func (Return) stmt() {}
func (If) stmt()     {}

// Expr is a typed expression. Operands have the types their node asks for:
// conversions are nodes of their own.
type Expr interface{ typ() Type }

// Num is a literal of a floating-point type, rounded to it.
type Num struct {
	Value float64
	Type  Type
}

// Int is a constant of an integer type, of Bool or Whole.
type Int struct {
	Value int64
	Type  Type
}

// Local reads a local variable.
type Local struct {
	Index int
	Type  Type
}

// Get reads a field's previous value at an offset from the own cell.
type Get struct {
	Field int
	At    Offset
	Type  Type
}

// Read reads a read-only array at an offset from the own cell.
type Read struct {
	Array int
	At    Offset
	Type  Type
}

// ReadAt reads an element of a read-only array by its index, an int64; beyond the
// ends it reads the first or last one.
type ReadAt struct {
	Array int
	Index Expr
	Type  Type
}

// Scalar reads an argument of the whole run or, with an index beyond those, a step scalar.
type Scalar struct {
	Index int
	Type  Type
}

// VarKind says what a Var reads.
type VarKind int

// What a Var reads.
const (
	Position  VarKind = iota // the own cell's coordinate on axis Index
	Extent                   // the grid's extent on axis Index
	Iteration                // the time step, 1 for the first
	Nearest                  // in EdgeValue: the nearest cell inside, before the step; in Sources: the value of the table
	Updated                  // in Reduce: the own cell's new value of field Index
	OfStep                   // a value of the step (StepValue), by a number of its text: in no file
	HighEnd                  // whether the own cell is one of the last Index / 3 on axis Index % 3: of short arrays, in no file
)

// Var reads a variable that the run provides. Position, Extent and Iteration are
// int, or int64 inside an index, where a product may exceed 32 bits.
type Var struct {
	Kind  VarKind
	Index int
	Type  Type
}

// Sum is the value of a weighted sum of a stage's Parts; no file has it.
type Sum struct {
	Index int
	Type  Type
}

// Neg is a sign change; integers wrap.
type Neg struct{ X Expr }

// Not is the negation of a Bool.
type Not struct{ X Expr }

// Cast converts to another type.
type Cast struct {
	X    Expr
	Type Type
}

// Binary is one of + - * / % on two operands of Type, or a Bool: one of
// < <= > >= == != on two operands of one type, or && || on two Bools.
type Binary struct {
	Op   string
	X, Y Expr
	Type Type
}

// Cond is If ? Then : Else.
type Cond struct{ If, Then, Else Expr }

// mark is the condition of an if or ?: whose place in the file is known: Stencil.marks[Index].
type mark struct {
	X     Expr // Bool
	Index int
}

// Call is a function of mathFuncs.
type Call struct {
	Func string
	Args []Expr
	Type Type
}

func (e Num) typ() Type    { return e.Type }
func (e Int) typ() Type    { return e.Type }
func (e Local) typ() Type  { return e.Type }
func (e Get) typ() Type    { return e.Type }
func (e Read) typ() Type   { return e.Type }
func (e ReadAt) typ() Type { return e.Type }
func (e Scalar) typ() Type { return e.Type }
func (e Var) typ() Type    { return e.Type }
func (e Sum) typ() Type    { return e.Type }
func (e Neg) typ() Type    { return e.X.typ() }
func (e Not) typ() Type    { return Bool }
func (e Cast) typ() Type   { return e.Type }
func (e Binary) typ() Type { return e.Type }
func (e Cond) typ() Type   { return e.Then.typ() }
func (e Call) typ() Type   { return e.Type }
func (mark) typ() Type     { return Bool }

// walk calls f for every expression under e, e first.
func walk(e Expr, f func(Expr)) {
	f(e)
	switch e := e.(type) {
	case ReadAt:
		walk(e.Index, f)
	case Neg:
		walk(e.X, f)
	case Not:
		walk(e.X, f)
	case mark:
		walk(e.X, f)
	case Cast:
		walk(e.X, f)
	case Binary:
		walk(e.X, f)
		walk(e.Y, f)
	case Cond:
		walk(e.If, f)
		walk(e.Then, f)
		walk(e.Else, f)
	case Call:
		for _, a := range e.Args {
			walk(a, f)
		}
	}
}

// walkBody calls f for every expression of a block.
func walkBody(body []Stmt, f func(Expr)) {
	for _, st := range body {
		switch st := st.(type) {
		case Let:
			walk(st.Value, f)
		case Return:
			for _, v := range st.Values {
				walk(v, f)
			}
		case If:
			walk(st.Cond, f)
			walkBody(st.Then, f)
			walkBody(st.Else, f)
		}
	}
}
