package stencil

import (
	"fmt"
	"strconv"
	"strings"
)

// CellSource is the body of the cell function in CUDA C: statements over T (the
// element type), locals v0, v1 ... and get(dx, dy, dz). Every name is ours and
// every number is printed anew, so no text of a stencil file reaches a compiler.
func CellSource(s *Stencil) string {
	var b strings.Builder
	for _, st := range s.Body {
		switch st := st.(type) {
		case Let:
			if st.Declare {
				b.WriteString("T ")
			}
			fmt.Fprintf(&b, "v%d = %s;\n", st.Local, exprText(st.Value))
		case Return:
			fmt.Fprintf(&b, "return %s;\n", exprText(st.Value))
		}
	}
	return b.String()
}

func exprText(e Expr) string {
	switch e := e.(type) {
	case Num:
		return "T(" + numText(e.Value) + ")"
	case Local:
		return "v" + strconv.Itoa(e.Index)
	case Get:
		return fmt.Sprintf("get(%d, %d, %d)", e.At[0], e.At[1], e.At[2])
	case Neg:
		return "-" + operand(e.X)
	case Binary:
		// C's + and * group to the left: only the right operand needs parentheses at equal precedence.
		x, y := exprText(e.X), exprText(e.Y)
		if b, ok := e.X.(Binary); ok && isSum(b.Op) && !isSum(e.Op) {
			x = "(" + x + ")"
		}
		switch b := e.Y.(type) {
		case Binary:
			if isSum(b.Op) || !isSum(e.Op) {
				y = "(" + y + ")"
			}
		case Neg:
			y = "(" + y + ")"
		}
		return x + " " + string(e.Op) + " " + y
	case Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = exprText(a)
		}
		return e.Func + "(" + strings.Join(args, ", ") + ")"
	}
	panic(fmt.Sprintf("stencil: unknown expression %T", e))
}

func isSum(op byte) bool { return op == '+' || op == '-' }

func operand(e Expr) string {
	switch e.(type) {
	case Binary, Neg:
		return "(" + exprText(e) + ")"
	}
	return exprText(e)
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
