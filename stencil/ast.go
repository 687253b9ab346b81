package stencil

// Stmt is one statement of a cell function.
type Stmt interface{ stmt() }

// Let declares a local variable, or sets it again. Locals are numbered in order
// of declaration; the source's names never reach generated code.
type Let struct {
	Local   int
	Value   Expr
	Declare bool
}

// Return ends the cell function with the cell's new value.
type Return struct{ Value Expr }

func (Let) stmt()    {}
func (Return) stmt() {}

// Expr is an expression of the element type.
type Expr interface{ expr() }

// Num is a literal. It is rounded to the element type.
type Num struct{ Value float64 }

// Local reads a local variable.
type Local struct{ Index int }

// Get reads the previous step's value at an offset from the own cell.
type Get struct{ At Offset }

// Neg is a sign change.
type Neg struct{ X Expr }

// Binary is one of + - * /.
type Binary struct {
	Op   byte
	X, Y Expr
}

// Call is a function of the maths library; Func indexes mathFuncs.
type Call struct {
	Func string
	Args []Expr
}

func (Num) expr()    {}
func (Local) expr()  {}
func (Get) expr()    {}
func (Neg) expr()    {}
func (Binary) expr() {}
func (Call) expr()   {}

// mathFunc is a function a cell may call: its arity and its operation count as
// Work counts them (one special operation each, except the cheap ones).
type mathFunc struct {
	arity   int
	special bool
	eval    func(a, b float64) float64
}

// walk calls f for every expression under e, e first.
func walk(e Expr, f func(Expr)) {
	f(e)
	switch e := e.(type) {
	case Neg:
		walk(e.X, f)
	case Binary:
		walk(e.X, f)
		walk(e.Y, f)
	case Call:
		for _, a := range e.Args {
			walk(a, f)
		}
	}
}
