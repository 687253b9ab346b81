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
			fmt.Fprintf(&b, "v%d = ", st.Local)
			writeExpr(&b, st.Value)
		case Return:
			b.WriteString("return ")
			writeExpr(&b, st.Value)
		}
		b.WriteString(";\n")
	}
	return b.String()
}

func writeExpr(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case Num:
		b.WriteString("T(" + numText(e.Value) + ")")
	case Local:
		b.WriteString("v" + strconv.Itoa(e.Index))
	case Get:
		fmt.Fprintf(b, "get(%d, %d, %d)", e.At[0], e.At[1], e.At[2])
	case Neg:
		b.WriteByte('-')
		_, binary := e.X.(Binary)
		_, negative := e.X.(Neg)
		writeParens(b, e.X, binary || negative)
	case Binary:
		// C's + and * group to the left: only the right operand needs parentheses at equal precedence.
		x, ok := e.X.(Binary)
		writeParens(b, e.X, ok && isSum(x.Op) && !isSum(e.Op))
		b.WriteString(" " + string(e.Op) + " ")
		y, ok := e.Y.(Binary)
		_, negative := e.Y.(Neg)
		writeParens(b, e.Y, negative || ok && (isSum(y.Op) || !isSum(e.Op)))
	case Call:
		b.WriteString(e.Func + "(")
		for i, a := range e.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			writeExpr(b, a)
		}
		b.WriteByte(')')
	default:
		panic(fmt.Sprintf("stencil: unknown expression %T", e))
	}
}

func writeParens(b *strings.Builder, e Expr, parens bool) {
	if parens {
		b.WriteByte('(')
	}
	writeExpr(b, e)
	if parens {
		b.WriteByte(')')
	}
}

func isSum(op byte) bool { return op == '+' || op == '-' }

// numText prints the shortest decimal that reads back as the same double, always
// with a point or exponent so that C takes it for a double.
func numText(v float64) string {
	t := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(t, ".e") {
		t += ".0"
	}
	return t
}
