package stencil

// This file makes the nodes of typed expressions: it inserts the conversions and
// folds what is constant and whole, so that a loop's variable may be an offset.

// maxWhole bounds whole literals of floating-point stencils: all of them are
// exact in a double.
const maxWhole = 1 << 53

// convert gives e in type t.
func convert(e Expr, t Type) Expr {
	from := e.typ()
	if from == t {
		return e
	}
	switch e := e.(type) {
	case Int:
		switch {
		case t == Bool:
			return truth(e.Value != 0)
		case t.Floating():
			return Num{from.asFloat(e.Value), t}
		}
		return Int{t.wrap(e.Value), t}
	case Num:
		switch {
		case t.Floating():
			return Num{e.Value, t}
		case t != Bool:
			return Int{t.fromFloat(e.Value), t}
		}
	}
	if t == Bool {
		return Binary{"!=", e, convert(Int{0, Whole}, from), Bool}
	}
	return Cast{e, t}
}

func truth(v bool) Int {
	if v {
		return Int{1, Bool}
	}
	return Int{0, Bool}
}

// settled gives a whole literal the element type: nothing else has given it one.
func settled(e Expr) Expr {
	if e.typ() == Whole {
		return convert(e, Elem)
	}
	return e
}

// negate is -e.
func negate(e Expr) Expr {
	e = convert(e, e.typ().promoted())
	switch e := e.(type) {
	case Num:
		return Num{-e.Value, e.Type}
	case Int:
		return Int{e.Type.wrap(-e.Value), e.Type}
	}
	return Neg{e}
}

// not is !e.
func not(e Expr) Expr {
	e = convert(settled(e), Bool)
	if c, ok := e.(Int); ok {
		return truth(c.Value == 0)
	}
	return Not{e}
}

// operandType is the type that two operands are computed in. A whole literal takes the other's, or a wider one that holds it, as in C.
func operandType(x, y Expr) Type {
	t := common(x.typ(), y.typ())
	for _, e := range []Expr{x, y} {
		if c, ok := e.(Int); ok && c.Type == Whole && t.whole() && t.wrap(c.Value) != c.Value && Type(Int32).wrap(c.Value) != c.Value {
			return Type(Int64)
		}
	}
	return t
}

// conditional is test ? a : b.
func conditional(test, a, b Expr) Expr {
	t := a.typ()
	if t != b.typ() {
		t = operandType(a, b)
	}
	c, known := test.(Int)
	if t == Whole && !known {
		t = Elem
	}
	a, b = convert(a, t), convert(b, t)
	switch {
	case !known:
		return Cond{test, a, b}
	case c.Value != 0:
		return a
	}
	return b
}

// precedence of the binary operators in C: a higher one binds tighter.
var precedence = map[string]int{
	"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6,
}

// fault is what is wrong with an operation; the parser adds the place.
type fault string

// operation is x op y, or what is wrong with it.
func operation(op string, x, y Expr) (Expr, fault) {
	switch precedence[op] {
	case 1, 2:
		return logic(op, convert(settled(x), Bool), convert(settled(y), Bool)), ""
	}
	t := operandType(x, y)
	x, y = convert(x, t), convert(y, t)
	if a, ok := x.(Int); ok {
		if b, ok := y.(Int); ok {
			if c, f := fold(op, a, b); c != nil || f != "" {
				return c, f
			}
		}
	}
	x, y = settled(x), settled(y)
	t = x.typ()
	switch precedence[op] {
	case 3, 4:
		return Binary{op, x, y, Bool}, ""
	}
	switch y := y.(type) {
	case Num:
		if y.Value == 0 && op == "/" {
			return nil, "division by zero"
		}
	case Int:
		if y.Value == 0 && (op == "/" || op == "%") {
			return nil, "division by zero"
		}
	}
	if op == "%" && t.Floating() {
		return nil, "% is for integers; use fmod"
	}
	return Binary{op, x, y, t}, ""
}

// logic is && or || on two Bools. Neither has effects, so one may be dropped where the other decides.
func logic(op string, x, y Expr) Expr {
	known, other := x, y
	if _, ok := y.(Int); ok {
		known, other = y, x
	}
	c, ok := known.(Int)
	switch {
	case !ok:
		return Binary{op, x, y, Bool}
	case (c.Value != 0) == (op == "&&"):
		return other
	}
	return c
}

// fold computes a op b of one integer type. No result and no fault: it cannot be
// a whole literal, and is left to run time.
func fold(op string, a, b Int) (Expr, fault) {
	t := a.Type
	if precedence[op] < 5 {
		return truth(compareInts(op, a.Value, b.Value, t)), ""
	}
	if b.Value == 0 && (op == "/" || op == "%") {
		return nil, "division by zero"
	}
	if t != Whole {
		return Int{arithmetic(op, a.Value, b.Value, t), t}, ""
	}
	if op == "/" && a.Value%b.Value != 0 {
		return nil, "in C this quotient of whole numbers drops its fraction; write one of them with a point"
	}
	v := arithmetic(op, a.Value, b.Value, t)
	if v > maxWhole || v < -maxWhole || op == "*" && a.Value != 0 && (v/a.Value != b.Value) {
		return nil, ""
	}
	return Int{v, Whole}, ""
}

// arithmetic computes on integers of type t as generated code does: results wrap,
// x / 0 is 0 and x % 0 is x.
func arithmetic(op string, a, b int64, t Type) int64 {
	unsigned := DType(t) == Uint64
	switch op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "/":
		switch {
		case b == 0:
			a = 0
		case unsigned:
			a = int64(uint64(a) / uint64(b))
		default:
			a /= b // Go wraps the smallest over -1
		}
	case "%":
		switch {
		case b == 0:
		case unsigned:
			a = int64(uint64(a) % uint64(b))
		default:
			a %= b
		}
	}
	return t.wrap(a)
}

// compareInts compares integers of type t.
func compareInts(op string, a, b int64, t Type) bool {
	less, equal := a < b, a == b
	if DType(t) == Uint64 {
		less = uint64(a) < uint64(b)
	}
	switch op {
	case "<":
		return less
	case "<=":
		return less || equal
	case ">":
		return !less && !equal
	case ">=":
		return !less
	case "==":
		return equal
	}
	return !equal
}

// choice is min, max or abs.
func choice(name string, args []Expr) Expr {
	t := args[0].typ().promoted()
	if len(args) == 2 {
		t = operandType(args[0], args[1])
	}
	var whole [2]int64
	known := 0
	for i := range args {
		args[i] = convert(args[i], t)
		if c, ok := args[i].(Int); ok {
			whole[i] = c.Value
			known++
		}
	}
	if known == len(args) {
		return Int{chosenInt(name, t, whole[0], whole[1]), t}
	}
	if t == Whole {
		t = Elem
	}
	for i := range args {
		args[i] = convert(args[i], t)
	}
	if t.Floating() {
		name = choices[name]
	}
	return Call{name, args, t}
}

// chosenInt is min or max of integers of type t, or abs of a.
func chosenInt(name string, t Type, a, b int64) int64 {
	switch {
	case name == "abs" && (t == Whole || t.signed()) && a < 0:
		return t.wrap(-a)
	case name == "min" && compareInts("<", b, a, t), name == "max" && compareInts(">", b, a, t):
		return b
	}
	return a
}
