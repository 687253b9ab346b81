package stencil

import (
	"fmt"
	"slices"
	"strings"
)

// Parse reads a stencil file: keys of the stencil language (seed paper section 4,
// "A Language and Optimizing Compiler for Iterative Stencil Loops") and our own,
// with cell functions in a subset of C. name is the stencil's name, file is used
// in errors. docs/language.md is the grammar.
func Parse(name, file, src string) (*Stencil, error) { return parse(name, file, src, false) }

// parse is Parse; with marks the conditions of branches are known by their places.
func parse(name, file, src string, marks bool) (*Stencil, error) {
	l := &lexer{file: file, src: src, line: 1}
	if len(src) > maxFileBytes {
		return nil, &SyntaxError{File: file, Msg: fmt.Sprintf("file has %d bytes, more than the %d a stencil may have", len(src), maxFileBytes)}
	}
	l.lines = strings.Split(src, "\n")
	toks, err := l.tokens()
	if err != nil {
		return nil, err
	}
	p := &parser{lexer: l, toks: toks, marking: marks, seen: map[string]token{}, axes: map[string]int{},
		constants: map[string]binding{}, helpers: map[string]*helper{}, stepRead: map[int]bool{}, gets: map[read]spot{}}
	p.out = &Stencil{Name: name, DType: Float32, text: src}
	if err := p.file(); err != nil {
		return nil, err
	}
	return p.out, nil
}

// parser reads the keys first and the functions after them, for their meaning
// depends on keys that may follow.
type parser struct {
	*lexer
	toks        []token
	at          int
	parsed      int // tokens taken
	depth       int // of expressions
	nested      int // of statements
	out         *Stencil
	bound       [3]int // StencilSize
	seen        map[string]token
	axes        map[string]int // how many extents a key gave
	points      []Offset       // as Points lists them
	temporaries []token        // as Temporary lists them
	outside     []outside      // what Boundary and EdgeValue say
	shorts      []shortened    // as Short lists them
	ends        [][3][]Stmt    // of each field, the EdgeValue of the high sides of axes
	written     [][]Stmt       // functions before conditions are made of Short: of stages, step scalars, sources and receivers
	colors      []colored      // what Color says
	edgeLocals  int            // of the functions of EdgeValue for sides
	meant       []meant        // what InputRange says
	blocks      []block
	globals     []block            // constants and functions of the file, in its order
	constants   map[string]binding // of the file
	helpers     map[string]*helper // functions of the file
	calls       []*helper          // being expanded, the outermost first
	gets        map[read]spot      // of fields in stages
	fn          *function          // being parsed
	step        int                // the step scalar being parsed, or next
	stepRead    map[int]bool       // step scalars that something reads
	nextList    int                // the list of places being parsed, or next
	marking     bool               // conditions are to be marked
}

// block is a function whose text is parsed when all keys are known.
type block struct {
	key token
	at  int // of its first token after the key
}

func (p *parser) peek() token { return p.toks[p.at] }

// after is the token after the next one.
func (p *parser) after() token { return p.toks[min(p.at+1, len(p.toks)-1)] }

func (p *parser) take() token {
	t := p.toks[p.at]
	p.parsed++
	if t.kind != tokEOF {
		p.at++
	}
	return t
}
func (p *parser) fail(t token, format string, args ...any) error {
	if n := len(p.calls); n > 0 {
		h := p.calls[n-1]
		format += " (in %.40s, called at %d:%d)"
		args = append(args, h.name.text, h.caller.line, h.caller.col)
	}
	return p.errorAt(t.line, t.col, format, args...)
}
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.kind == tokPunct && t.text == text
}

// accept takes a mark if it comes next.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.take()
	return true
}
func (p *parser) expect(text string) (token, error) {
	t := p.take()
	if t.kind != tokPunct || t.text != text {
		return t, p.wanted(text, t)
	}
	return t, nil
}

// list parses ( item, item ... ).
func (p *parser) list(item func(i int) error) error {
	if _, err := p.expect("("); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if i >= maxNames {
			return p.fail(p.peek(), "more than %d entries", maxNames)
		}
		if err := item(i); err != nil {
			return err
		}
		if !p.accept(",") {
			_, err := p.expect(")")
			return err
		}
	}
}

func (p *parser) file() error {
	for p.peek().kind != tokEOF {
		key := p.take()
		if key.text == "const" || key.text == "#define" || isLocalType(key) {
			if err := p.skipGlobal(key); err != nil {
				return err
			}
			continue
		}
		if remedy := foreign[key.text]; remedy != "" && key.kind == tokName {
			return p.fail(key, "%s is not in the language; %s", key.text, remedy)
		}
		read, ok := keyReaders[key.text]
		if key.kind != tokName || !ok {
			return p.unknownKey(key)
		}
		if _, dup := p.seen[key.text]; dup && !slices.Contains([]string{"CellValue", "EdgeValue", "Boundary", "InputRange", "StepScalar", "Color", "Sources", "Receivers"}, key.text) {
			return p.fail(key, "%s is given twice; remove one", key.text)
		}
		p.seen[key.text] = key
		if err := read(p, key); err != nil {
			return err
		}
	}
	for _, one := range []string{"NumDimensions 2", "StencilSize (1, 1)", "CellValue { return get(0, 0); }"} {
		k, _, _ := strings.Cut(one, " ")
		if _, ok := p.seen[k]; !ok {
			return p.fail(p.peek(), "%s is missing; add it, like %s", k, one)
		}
	}
	if err := p.checkKeys(); err != nil {
		return err
	}
	for _, b := range p.globals {
		if err := p.global(b); err != nil {
			return err
		}
	}
	for _, b := range p.blocks {
		if err := p.block(b); err != nil {
			return err
		}
	}
	if err := p.checkPoints(); err != nil {
		return err
	}
	if err := p.applyColors(); err != nil {
		return err
	}
	if err := p.finish(); err != nil {
		return err
	}
	if s := p.out; s.DType.Packed() && !slices.Contains(s.DTypes(), s.DType) {
		return p.fail(p.seen["DataType"], "only a step that is one weighted sum of one field is computed in float16; leave out compute float16")
	}
	return nil
}

// checkKeys checks the keys against each other and fills in what they leave out.
func (p *parser) checkKeys() error {
	s := p.out
	for _, key := range []string{"StencilSize", "DefaultSize"} {
		if n, given := p.axes[key]; given && n != s.Dims {
			return p.fail(p.seen[key], "%s has %d extents, NumDimensions says %d", key, n, s.Dims)
		}
	}
	for _, o := range p.points {
		for a := s.Dims; a < 3; a++ {
			if o[a] != 0 {
				return p.fail(p.seen["Points"], "a point of Points has more than %d offsets", s.Dims)
			}
		}
	}
	if t, given := p.seen["Until"]; given && s.Reduce == nil {
		return p.fail(t, "Until compares what Reduce computes; add Reduce")
	}
	if t, given := p.seen["StepScalar"]; given && (s.DType == Int64 || s.DType == Uint64) {
		return p.fail(t, "step scalars are kept in double, which does not hold every %s; use int or double", s.DType)
	}
	if len(s.Fields) == 0 {
		s.Fields = []Array{{}}
	}
	for _, a := range s.ReadOnly {
		if a.Axis > s.Dims {
			return p.fail(p.seen["ReadOnly"], "%.40s lies along %c, which %d dimensions do not have", a.Name, "xyz"[a.Axis-1], s.Dims)
		}
	}
	for i, a := range s.arrays() {
		key := "Fields"
		if i >= len(s.Fields) {
			key = "ReadOnly"
		}
		if a.Type != "" && !s.DType.Floating() && !s.DType.holds(a.Type) {
			return p.fail(p.seen[key], "%.40s is read as %s, which does not hold every %s; choose a narrower type for it, or a wider DataType", a.Name, s.DType, a.Type)
		}
	}
	for _, t := range p.temporaries {
		i, err := p.anotherField(t, func(i int) bool { return s.Fields[i].Temporary })
		if err != nil {
			return err
		}
		s.Fields[i].Temporary = true
	}
	if err := p.applyShort(); err != nil {
		return err
	}
	for i := range s.Scalars {
		t, err := p.cellType(p.seen["ScalarVariables"], DType(s.Scalars[i].Type))
		if err != nil {
			return err
		}
		s.Scalars[i].Type = t
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		if n := slices.IndexFunc(p.blocks, func(b block) bool { return b.key.text == "CellValue" && p.toks[b.at].text == st.Name }); n < 0 {
			return p.fail(p.seen["Stages"], "stage %.40s has no CellValue; add CellValue %.40s { ... }", st.Name, st.Name)
		}
	}
	return nil
}

// finish checks what only the whole file can tell and fills in what follows from it.
func (p *parser) finish() error {
	s := p.out
	if err := p.rules(); err != nil {
		return err
	}
	if err := p.storeFields(); err != nil {
		return err
	}
	if err := p.ranges(); err != nil {
		return err
	}
	if err := p.checkShort(); err != nil {
		return err
	}
	s.findWide()
	if err := p.lower(); err != nil {
		return err
	}
	s.indexProfiles()
	if err := p.stepScalars(); err != nil {
		return err
	}
	s.finish()
	if err := p.checkColors(); err != nil {
		return err
	}
	if err := p.sparses(); err != nil {
		return err
	}
	for _, t := range p.temporaries {
		if err := p.temporaryUse(t, p.field(t)); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(s.Fields, func(f Array) bool { return !f.Temporary }) {
		return p.fail(p.temporaries[0], "every field is temporary, so a run gives nothing; leave one out")
	}
	if !s.readsAny() {
		return p.fail(p.seen["CellValue"], "CellValue never calls get(), so there is nothing to tune")
	}
	if p.marking {
		p.unlower()
	}
	return nil
}

// checkPoints compares Points with what get() reads as the file has it: keys may add the own cell.
func (p *parser) checkPoints() error {
	key, given := p.seen["Points"]
	if !given {
		return nil
	}
	read := p.out.pointsRead()
	slices.SortFunc(p.points, compareOffsets)
	p.points = slices.Compact(p.points)
	for _, o := range read {
		if !slices.Contains(p.points, o) {
			return p.fail(key, "Points does not list (%s), which get() reads; add it", o.text(p.out.Dims))
		}
	}
	for _, o := range p.points {
		if !slices.Contains(read, o) {
			return p.fail(key, "Points lists (%s), which no get() reads; remove it", o.text(p.out.Dims))
		}
	}
	return nil
}

// temporaryUse checks that in each time step a temporary field is set before it is read.
func (p *parser) temporaryUse(t token, field int) error {
	s := p.out
	first := slices.IndexFunc(s.Stages, func(st Stage) bool { return slices.Contains(st.Outputs, field) })
	if first < 0 {
		return p.fail(t, "no stage sets %s; remove it", t)
	}
	for i := range first + 1 {
		if s.Fields[field].Has(Fixed) && i == first {
			return p.fail(t, "with a rule fixed of its own a cell near the edge keeps %s of the time step before, so it is not temporary; leave out that rule, and it is computed at every cell", t)
		}
		if len(s.Stages[i].Points[field]) > 0 {
			return p.fail(t, "%s reads %s of the time step before, so it is not temporary", strings.TrimSpace(fmt.Sprintf("CellValue %.40s", s.Stages[i].Name)), t)
		}
	}
	for _, a := range s.StepScalars {
		if len(a.Points[field]) > 0 {
			return p.fail(t, "step scalar %.40s reads %s of the time step before, so it is not temporary", a.Name, t)
		}
	}
	reduced := false
	if s.Reduce != nil {
		walkBody(s.Reduce.Body, func(e Expr) {
			g, before := e.(Get)
			v, after := e.(Var)
			if before && g.Field == field || after && v.Kind == Updated && v.Index == field {
				reduced = true
			}
		})
	}
	if reduced {
		return p.fail(t, "Reduce reads %s, so it is not temporary", t)
	}
	return nil
}
