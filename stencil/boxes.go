package stencil

import (
	"fmt"
	"math"
	"slices"
)

// leastBox is the fewest points of a box whose sum is nested.
const leastBox = 9

// boxed is a function in which a sum over a box, of anything that follows from the points around each of its cells, with weights that are products of
// one for each axis, is nested: sums along x, sums of those along y, and of those along z. What neighbouring cells have in common then are whole sums.
// nil where there is none, or the function branches.
func boxed(body []Stmt) []Stmt {
	b := boxes{forms: map[int][]addend{}, last: map[int]int{}}
	sets := map[int]int{}
	for i, st := range body {
		switch st := st.(type) {
		case Let:
			b.last[st.Local] = i
			sets[st.Local]++
		case If:
			return nil
		}
	}
	numbers := map[int]Expr{} // what locals always are, as elements of arrays of weights
	for _, st := range body {
		if let, ok := st.(Let); ok && sets[let.Local] == 1 {
			if v, ok := number(let.Value); ok {
				numbers[let.Local] = Num{v, let.Type}
			}
		}
	}
	body = replaceBody(body, func(e Expr) Expr {
		if l, ok := e.(Local); ok && numbers[l.Index] != nil {
			return numbers[l.Index]
		}
		return e
	})
	var out []Stmt
	for i, st := range body {
		switch x := st.(type) {
		case Let:
			sum, ok := b.sum(x.Value, 1)
			found := b.found
			if i == b.last[x.Local] { // what it held before is mostly read by the next one alone
				x.Value = b.expr(x.Value)
			}
			delete(b.forms, x.Local)
			if ok && b.found == found { // else who reads it has it nested already
				b.forms[x.Local] = sum
			}
			st = x
		case Return:
			values := make([]Expr, len(x.Values))
			for o, v := range x.Values {
				values[o] = b.expr(v)
			}
			st = Return{values}
		}
		out = append(out, st)
	}
	if b.found == 0 {
		return nil
	}
	return live(out)
}

// boxes nests the sums of a function.
type boxes struct {
	forms map[int][]addend // what locals are sums of, of those that are
	last  map[int]int      // the statement that sets a local last
	found int              // boxes
}

// addend is a part of a sum: a weight times what follows from the points around a place, as it is at the origin.
type addend struct {
	weight float64
	what   Expr
	at     Offset
	key    string // the same for what differs in the place alone
}

// sum is what an expression is a sum of, times k; false where a part depends on more than points and numbers.
func (b *boxes) sum(e Expr, k float64) ([]addend, bool) {
	if e.typ() != Elem {
		return nil, false
	}
	switch x := e.(type) {
	case Num:
		if x.Value == 0 {
			return nil, true
		}
	case Local:
		form, ok := b.forms[x.Index]
		if !ok {
			return nil, false
		}
		form = slices.Clone(form)
		for i := range form {
			form[i].weight *= k
		}
		return form, true
	case Neg:
		return b.sum(x.X, -k)
	case Binary:
		switch n, isNumber := number(x.X); {
		case x.Op == "+" || x.Op == "-":
			sign := k
			if x.Op == "-" {
				sign = -k
			}
			first, ok := b.sum(x.X, k)
			second, also := b.sum(x.Y, sign)
			return append(first, second...), ok && also
		case x.Op == "*" && isNumber && finite(n*k):
			return b.sum(x.Y, n*k)
		}
	}
	a, ok := moved(e)
	a.weight = k
	return []addend{a}, ok
}

// moved is an expression as an addend; false where it is not the same at every cell but for its points.
func moved(e Expr) (a addend, ok bool) {
	ok, first := true, true
	walk(e, func(e Expr) {
		switch e := e.(type) {
		case Get:
			if first {
				a.at, first = e.At, false
			}
		case Read:
			if first {
				a.at, first = e.At, false
			}
		case Num, Int, Scalar, Neg, Binary, Cast, Call:
		default:
			ok = false
		}
	})
	if !ok || first {
		return a, false
	}
	a.what = shifted(e, minus(Offset{}, a.at))
	a.key = fmt.Sprintf("%#v", a.what)
	return a, true
}

// shifted is an expression at another place.
func shifted(e Expr, by Offset) Expr {
	return replace(e, func(e Expr) Expr {
		switch x := e.(type) {
		case Get:
			x.At = plus(x.At, by)
			return x
		case Read:
			x.At = plus(x.At, by)
			return x
		}
		return e
	})
}

// expr is e with its sums over boxes nested.
func (b *boxes) expr(e Expr) Expr {
	return replaceOutermost(e, func(e Expr) (Expr, bool) {
		if _, ok := e.(Binary); !ok {
			return nil, false
		}
		addends, ok := b.sum(e, 1)
		if !ok || len(addends) < leastBox {
			return nil, false
		}
		return b.nested(addends)
	})
}

// nested is a sum with those over boxes nested; false where none is.
func (b *boxes) nested(addends []addend) (sum Expr, ok bool) {
	var keys []string
	groups := map[string]map[Offset]float64{}
	of := map[string]Expr{}
	for _, a := range addends {
		if groups[a.key] == nil {
			groups[a.key], of[a.key], keys = map[Offset]float64{}, a.what, append(keys, a.key)
		}
		groups[a.key][a.at] += a.weight
	}
	for _, key := range keys {
		group := groups[key]
		if weights, low, weight, is := separable(group); is {
			ok = true
			b.found++
			sum = withTerm(sum, weight, box(of[key], low, weights, 2))
			continue
		}
		at := make([]Offset, 0, len(group))
		for o := range group {
			at = append(at, o)
		}
		slices.SortFunc(at, compareOffsets)
		for _, o := range at {
			if group[o] != 0 {
				sum = withTerm(sum, group[o], shifted(of[key], o))
			}
		}
	}
	return sum, ok
}

// separable are the weights along each axis of a box from low on, and what all are multiplied with.
func separable(group map[Offset]float64) (weights [3][]float64, low Offset, weight float64, ok bool) {
	if len(group) < leastBox {
		return weights, low, 0, false
	}
	var high Offset
	first := true
	for o := range group {
		for a := range 3 {
			if first {
				low[a], high[a] = o[a], o[a]
			}
			low[a], high[a] = min(low[a], o[a]), max(high[a], o[a])
		}
		first = false
	}
	n, wide := 1, 0
	for a := range 3 {
		n *= high[a] - low[a] + 1
		if high[a] > low[a] {
			wide++
		}
	}
	if n != len(group) || wide < 2 {
		return weights, low, 0, false
	}
	weight = group[low]
	for a := range 3 {
		for i := low[a]; i <= high[a]; i++ {
			o := low
			o[a] = i
			w := group[o] / weight
			if !finite(w) || w == 0 {
				return weights, low, 0, false
			}
			weights[a] = append(weights[a], w)
		}
	}
	for o, w := range group {
		product := weight
		for a := range 3 {
			product *= weights[a][o[a]-low[a]]
		}
		if math.Abs(w-product) > 1e-15*math.Abs(w) {
			return weights, low, 0, false
		}
	}
	return weights, low, weight, true
}

// box is the nested sum along an axis and those before it: first those whose weight is the same size together.
func box(of Expr, at Offset, weights [3][]float64, axis int) Expr {
	if axis < 0 {
		return shifted(of, at)
	}
	var sum Expr
	done := make([]bool, len(weights[axis]))
	for i, w := range weights[axis] {
		if done[i] {
			continue
		}
		var alike Expr
		for j := i; j < len(done); j++ {
			if weights[axis][j] != w {
				continue
			}
			done[j] = true
			o := at
			o[axis] += j
			alike = withTerm(alike, 1, box(of, o, weights, axis-1))
		}
		sum = withTerm(sum, w, alike)
	}
	return sum
}
