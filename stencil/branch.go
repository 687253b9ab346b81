package stencil

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Branch is an if or ?: of a file, or a list of sources, which change a cell or do not. All copies that unrolling makes of it are one.
type Branch struct {
	Line, Col int    // from 1
	Word      string // "if" or "?:", or the list's name
	Sources   bool
	sides     byte // those that have code: bit 0 where the condition is false, bit 1 where it is true
}

// marked is a condition with its place, if conditions are marked.
func (p *parser) marked(at token, cond Expr) Expr {
	if !p.marking {
		return cond
	}
	b := Branch{Line: at.line, Col: at.col, Word: "if", sides: 3}
	if at.text == "?" {
		b.Word = "?:"
	}
	i := slices.Index(p.out.marks, b)
	if i < 0 {
		i = len(p.out.marks)
		p.out.marks = append(p.out.marks, b)
	}
	return mark{cond, i}
}

// markings are the stencils of marked, by what they were made of; nil of those without a branch and sources.
var markings sync.Map

type markingKey struct{ hash, text string }

// marked is the stencil with marks in its conditions, for the reference alone; nil if it has no branch and no sources.
func (s *Stencil) marked() *Stencil {
	key := markingKey{s.Hash, s.text}
	if m, ok := markings.Load(key); ok {
		return m.(*Stencil)
	}
	var m *Stencil
	branches := slices.ContainsFunc(s.Sparse, func(a Sparse) bool { return a.Sources() })
	for _, body := range s.bodies() {
		branches = branches || branching(body)
	}
	if branches {
		if whole, err := Parse(s.Name, s.Name, s.text); err == nil && whole.Hash == s.Hash { // else it is a part of what the file says
			m, _ = parse(s.Name, s.Name, s.text, true)
		}
	}
	if m != nil {
		m.reached()
	}
	markings.Store(key, m)
	return m
}

func branching(body []Stmt) bool {
	found := slices.ContainsFunc(body, func(st Stmt) bool { _, is := st.(If); return is })
	walkBody(body, func(e Expr) {
		if _, is := e.(Cond); is {
			found = true
		}
	})
	return found
}

// reached finds the sides of branches that have code in the tree: constants may have dropped
// whole branches, and an if without else has nothing there, but for what follows one that returns.
func (s *Stencil) reached() {
	sides := make([]byte, len(s.marks))
	add := func(cond Expr, which byte) {
		if m, ok := cond.(mark); ok {
			sides[m.Index] |= which
		}
	}
	var block func([]Stmt)
	block = func(body []Stmt) {
		for _, st := range body {
			if st, ok := st.(If); ok {
				which := byte(2)
				if len(st.Else) > 0 || returns(st.Then) {
					which = 3
				}
				add(st.Cond, which)
				block(st.Then)
				block(st.Else)
			}
		}
		walkBody(body, func(e Expr) {
			if c, ok := e.(Cond); ok {
				add(c.If, 3)
			}
		})
	}
	unasked := func(body []Stmt) bool { // no check runs it
		if s.Reduce != nil && &body[0] == &s.Reduce.Body[0] {
			return true
		}
		f := slices.IndexFunc(s.Fields, func(f Array) bool { return len(f.Edge) > 0 && &body[0] == &f.Edge[0] })
		return f >= 0 && !s.asksEdge(f)
	}
	for _, body := range s.bodies() {
		if len(body) > 0 && !unasked(body) {
			block(body)
		}
	}
	for i := range s.marks {
		if s.marks[i].sides = sides[i]; s.marks[i].Sources {
			s.marks[i].sides = 2
		}
	}
}

// Untaken names the branches that no cell of some checks took, given what those have Seen.
func (s *Stencil) Untaken(seen string) []string {
	m := s.marked()
	if m == nil {
		return nil
	}
	var list []string
	order := make([]int, len(m.marks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(m.marks[i].Line, m.marks[j].Line), cmp.Compare(m.marks[i].Col, m.marks[j].Col))
	})
	for _, i := range order {
		b := m.marks[i]
		took := byte(0)
		if i < len(seen) {
			took = seen[i] - '0'
		}
		for side, what := range []string{"fails", "holds"} {
			switch {
			case b.sides&^took>>side&1 == 0:
			case b.Sources:
				list = append(list, fmt.Sprintf("%d:%d: sources %.40s never change a value", b.Line, b.Col, b.Word))
			default:
				list = append(list, fmt.Sprintf("%d:%d: the condition of %s never %s", b.Line, b.Col, b.Word, what))
			}
		}
	}
	return list
}

// seenText is what a run has seen of each branch, a digit each.
func seenText(seen []byte) string {
	text := make([]byte, len(seen))
	for i, b := range seen {
		text[i] = '0' + b
	}
	return string(text)
}

// Together is what two checks have seen of a stencil's branches.
func Together(a, b string) string {
	if len(a) < len(b) {
		a, b = b, a
	}
	text := []byte(a)
	for i := range b {
		text[i] |= b[i] // digits from 0 to 3
	}
	return string(text)
}
