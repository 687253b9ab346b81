package stencil

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// keys of a stencil file, in the order they are best written.
var keys = []string{
	"NumDimensions", "StencilSize", "Points", "DataType", "FunctionName", "ScalarVariables", "Fields", "Temporary", "ReadOnly", "Short", "Boundary",
	"StepScalar", "Stages", "Color", "CellValue", "EdgeValue", "Sources", "Receivers", "Reduce", "Until", "DefaultSize", "Steps", "InputRange",
}

// keyReaders parse the value of each key.
var keyReaders = map[string]func(*parser, token) error{
	"NumDimensions":   (*parser).numDimensions,
	"StencilSize":     (*parser).stencilSize,
	"Points":          (*parser).pointList,
	"DataType":        (*parser).dataType,
	"FunctionName":    (*parser).functionName,
	"ScalarVariables": (*parser).scalarVariables,
	"Fields":          (*parser).fields,
	"Temporary":       (*parser).temporary,
	"ReadOnly":        (*parser).readOnly,
	"Short":           (*parser).short,
	"Boundary":        (*parser).boundary,
	"StepScalar":      (*parser).stepScalar,
	"Stages":          (*parser).stages,
	"Color":           (*parser).color,
	"CellValue":       (*parser).skipBlock,
	"EdgeValue":       (*parser).skipBlock,
	"Sources":         (*parser).sparse,
	"Receivers":       (*parser).sparse,
	"Reduce":          (*parser).reduce,
	"Until":           (*parser).until,
	"DefaultSize":     (*parser).defaultSize,
	"Steps":           (*parser).steps,
	"InputRange":      (*parser).inputRange,
}

func (p *parser) integer() (int, error) {
	t := p.take()
	n, err := strconv.Atoi(t.text)
	if t.kind != tokNumber || err != nil {
		return 0, p.fail(t, "want a whole number here, found %s%s", t, instead(t))
	}
	return n, nil
}

// instead is what to write where a key has no number.
func instead(t token) string {
	switch {
	case t.text == "=" || t.text == ":":
		return "; a key's value follows it at once"
	case t.kind == tokName:
		return "; keys take numbers themselves, no names and no formulas of them"
	}
	return ""
}

// literal parses a number with or without a sign.
func (p *parser) literal() (float64, error) {
	sign := 1.0
	if p.accept("-") {
		sign = -1
	}
	t := p.take()
	if t.kind != tokNumber {
		return 0, p.fail(t, "want a number here, found %s%s", t, instead(t))
	}
	v, err := p.decimal(t)
	return sign * v, err
}

// decimal reads a number token; C's suffix f is allowed.
func (p *parser) decimal(t token) (float64, error) {
	text := t.text
	if n := len(text) - 1; text[n] == 'f' || text[n] == 'F' {
		text = text[:n]
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || strings.ContainsAny(text, "xXpP_iInN") {
		more := ""
		if strings.Trim(text, "0123456789.eE+-") != "" {
			more = "; numbers are decimal, like 1.5e-3, and have no suffix but f"
		}
		return 0, p.fail(t, "%s is not a decimal number in range%s", t, more)
	}
	return v, nil
}

// newName parses a name that nothing else has.
func (p *parser) newName(what string) (token, error) {
	t := p.take()
	if t.kind != tokName || reserved(t.text) {
		return t, p.unnamed(what, t)
	}
	if p.named(t.text) {
		return t, p.fail(t, "%.40s is declared twice", t.text)
	}
	return t, nil
}

// named tells whether a field, read-only array, scalar, step scalar, list of places or function has the name.
func (p *parser) named(name string) bool { return p.called(name) != "" }

// called is what the file gives that name, outside of functions; "" if nothing.
func (p *parser) called(name string) string {
	has := func(a Array) bool { return a.Name == name }
	switch {
	case p.helpers[name] != nil:
		return "a function"
	case p.stepNamed(name) >= 0:
		return "a step scalar"
	case p.listNamed(name) != nil:
		return "a list of places"
	case slices.ContainsFunc(p.out.Fields, has):
		return "a field"
	case slices.ContainsFunc(p.out.ReadOnly, has):
		return "a read-only array"
	case slices.ContainsFunc(p.out.Scalars, func(a Argument) bool { return a.Name == name }):
		return "a scalar"
	}
	return ""
}

func (p *parser) numDimensions(key token) error {
	n, err := p.integer()
	if err == nil && (n < 1 || n > 3) {
		err = p.fail(key, "NumDimensions must be 1, 2 or 3")
	}
	p.out.Dims = n
	return err
}

// extents parses (n, n, n) of at most three whole numbers up to a limit.
func (p *parser) extents(key token, limit int, beyond string) (e [3]int, err error) {
	err = p.list(func(i int) error {
		t := p.peek()
		n, err := p.integer()
		switch {
		case err != nil:
			return err
		case n > limit:
			return p.fail(t, "%s", beyond)
		case i > 2:
			return p.fail(t, "a stencil has at most three axes")
		}
		e[i] = n
		p.axes[key.text] = i + 1
		return nil
	})
	return e, err
}

func (p *parser) stencilSize(key token) (err error) {
	p.bound, err = p.extents(key, maxRadius, "a stencil may reach 16 cells at most")
	return err
}

func (p *parser) defaultSize(key token) error {
	e, err := p.extents(key, maxExtent, "an axis has 1073741823 cells at most")
	if err != nil {
		return err
	}
	p.out.size = Size{1, 1, 1}
	copy(p.out.size[:], e[:p.axes[key.text]])
	if _, err := ParseSize(p.out.size.Text(3), 3); err != nil {
		return p.fail(key, "%v", err)
	}
	return nil
}

// MaxSteps bounds the time steps of a run.
const MaxSteps = 1 << 30

func (p *parser) steps(key token) (err error) {
	p.out.Steps, err = p.integer()
	if err == nil && (p.out.Steps < 1 || p.out.Steps > MaxSteps) {
		err = p.fail(key, "Steps must lie in 1..%d", MaxSteps)
	}
	return err
}

// pointList parses ((dx, dy), (dx, dy) ...).
func (p *parser) pointList(key token) error {
	if _, err := p.expect("("); err != nil {
		return err
	}
	for {
		var o Offset
		err := p.list(func(i int) error {
			t := p.peek()
			v, err := p.literal()
			switch {
			case err != nil:
				return err
			case i > 2:
				return p.fail(t, "a stencil has at most three axes")
			case v != math.Trunc(v) || math.Abs(v) > maxRadius:
				return p.fail(t, "want a whole offset of %d cells at most", maxRadius)
			}
			o[i] = int(v)
			return nil
		})
		if err != nil {
			return err
		}
		p.points = append(p.points, o)
		if !p.accept(",") {
			_, err := p.expect(")")
			return err
		}
	}
}

// typeWords are the words that type names are made of; short forms like f32 are none.
var typeWords = func() map[string]bool {
	words := map[string]bool{"half": true}
	for _, d := range ElementTypes() {
		f := d.fact()
		words[string(d)] = true
		for _, w := range strings.FieldsFunc(f.words, func(r rune) bool { return r == ' ' || r == '|' }) {
			words[w] = true
		}
	}
	return words
}()

func isTypeWord(t token) bool {
	return t.kind == tokName && typeWords[strings.TrimSuffix(t.text, "_t")]
}

// typeName parses the name of an element type, as C or we call it, which stands on one line: a function may begin on the next.
func (p *parser) typeName() (DType, error) {
	first := p.take()
	if !isTypeWord(first) {
		return "", p.fail(first, "unknown element type %s: use int, int64, float, double, unsigned int or one of %s", first, JoinTypes(ElementTypes()))
	}
	name, shorter := strings.TrimSuffix(first.text, "_t"), ""
	last := first
	for isTypeWord(p.peek()) && p.peek().line == first.line {
		last, shorter = p.take(), name
		name += " " + last.text
	}
	d, err := ParseDType(name)
	if _, wrong := ParseDType(shorter); err != nil && wrong == nil && p.peek().kind == tokPunct { // a name belongs here
		return "", p.fail(last, "%s is a type; choose another name, like %.40s_", last, last.text)
	}
	if err != nil {
		return "", p.fail(first, "unknown element type %.60q: use int, int64, float, double, unsigned int or one of %s", name, JoinTypes(ElementTypes()))
	}
	return d, nil
}

func (p *parser) dataType(token) (err error) {
	if p.out.DType, err = p.typeName(); err != nil || p.peek().text != "compute" {
		return err
	}
	at := p.take()
	in, err := p.typeName()
	if err != nil {
		return err
	}
	if p.out.DType, err = p.out.DType.Computing(in); err != nil {
		return p.fail(at, "%v", err)
	}
	return nil
}

func (p *parser) functionName(token) error {
	t := p.take()
	if t.kind != tokName {
		return p.fail(t, "want the name of a function here, found %s", t)
	}
	p.out.Function = t.text
	return nil
}

// scalarVariables parses (type name [= value], ...). Their types are settled when
// the element type is known.
func (p *parser) scalarVariables(token) error {
	if p.is("(") && p.after().text == ")" { // none, as the paper's grammar allows
		p.take()
		p.take()
		return nil
	}
	var d DType
	return p.list(func(i int) (err error) {
		// A name alone has the type of the one before, as in C.
		if t := p.peek(); i == 0 && t.kind == tokName && !isTypeWord(t) && p.after().kind != tokName {
			return p.fail(t, "a scalar has a type, like (float %.40s)", t.text)
		}
		if i == 0 || isTypeWord(p.peek()) || p.after().kind == tokName {
			if d, err = p.typeName(); err != nil {
				return err
			}
		}
		t, err := p.newName("a scalar")
		if err != nil {
			return err
		}
		a := Argument{Name: t.text, Type: Type(d), Default: 1}
		if p.accept("=") {
			at := p.peek()
			if a.Default, err = p.literal(); err != nil {
				return err
			}
			beyond := d == Int64 && a.Default >= 1<<63 || d == Uint64 && a.Default >= 1<<64 // which Round holds for their largest
			if !d.Floating() && (beyond || d.Round(a.Default) != a.Default) {
				return p.fail(at, "%v is no %s", a.Default, d)
			}
			if text := p.toks[p.at-1].text; !d.Floating() && math.Abs(a.Default) >= 1<<53 && !isDouble(text) {
				return p.fail(at, "scalars are kept in double, which does not hold %s; write const %s %.40s = ...; if no run changes it", text, d.C(), a.Name)
			}
			if t := p.peek(); !p.is(",") && !p.is(")") && precedence[t.text] > 0 {
				return p.fail(t, "a scalar's default is one number; compute it, or write const %s %.40s = ...; if no run changes it", d.C(), a.Name)
			}
		}
		p.out.Scalars = append(p.out.Scalars, a)
		return nil
	})
}

// isDouble tells whether double holds a large decimal number as it is written.
func isDouble(text string) bool {
	text = strings.TrimRight(text, "fF")
	v, err := strconv.ParseFloat(text, 64)
	exact, ok := new(big.Rat).SetString(text)
	return err == nil && ok && exact.Cmp(new(big.Rat).SetFloat64(v)) == 0
}

func (p *parser) fields(token) error {
	return p.list(func(int) error {
		t, err := p.newName("a field")
		a := Array{Name: t.text}
		if err == nil && p.accept(":") {
			a.Type, err = p.typeName()
		}
		p.out.Fields = append(p.out.Fields, a)
		return err
	})
}

// temporary names fields; which there are is known when all keys are.
func (p *parser) temporary(token) error {
	return p.list(func(int) error {
		p.temporaries = append(p.temporaries, p.take())
		return nil
	})
}

func (p *parser) readOnly(token) error {
	return p.list(func(int) error {
		t, err := p.newName("a read-only array")
		if err != nil {
			return err
		}
		a := Array{Name: t.text}
		if p.accept("[") {
			axis := p.take()
			if len(axis.text) != 1 || !strings.Contains("xyz", axis.text) {
				return p.fail(axis, "want the axis that %.40s lies along here, as in %.40s[x], found %s; an array that read(%.40s, i) reads has any number of elements", t.text, t.text, axis, t.text)
			}
			if a.Axis = strings.Index("xyz", axis.text) + 1; p.is(",") {
				return p.fail(p.peek(), "an array lies along one axis, or has a value for each cell; one of a plane is read by index, like read(%.40s, y * input_size.x + x)", t.text)
			}
			if _, err := p.expect("]"); err != nil {
				return err
			}
		}
		if p.accept(":") {
			if a.Type, err = p.typeName(); err != nil {
				return err
			}
		}
		p.out.ReadOnly = append(p.out.ReadOnly, a)
		return nil
	})
}

func (p *parser) stages(token) error {
	return p.list(func(int) error {
		t := p.take()
		if t.kind != tokName || slices.ContainsFunc(p.out.Stages, func(s Stage) bool { return s.Name == t.text }) {
			return p.fail(t, "want the name of a new stage here, found %s", t)
		}
		p.out.Stages = append(p.out.Stages, Stage{Name: t.text})
		return nil
	})
}

// skipBlock passes [name] [(outputs)] { ... } and keeps its place.
func (p *parser) skipBlock(key token) error {
	b := block{key: key, at: p.at}
	for !p.is("{") {
		if t := p.peek(); t.kind != tokName && (t.kind != tokPunct || !strings.Contains("(,)", t.text)) || slices.Contains(keys, t.text) || p.at-b.at > 2*maxNames+4 {
			return p.fail(t, `want "{" here, found %s`, t)
		}
		p.take()
	}
	if err := p.skipBraces(); err != nil {
		return err
	}
	if len(p.blocks) > 3*maxNames {
		return p.fail(key, "more than %d functions", 3*maxNames)
	}
	p.blocks = append(p.blocks, b)
	return nil
}

// skipBraces passes { ... }.
func (p *parser) skipBraces() error {
	open, depth := p.peek(), 0
	for {
		if p.is("{") {
			depth++
		} else if p.is("}") {
			depth--
		}
		if p.take().kind == tokEOF {
			return p.fail(open, "this { is never closed; end the block with }")
		}
		if depth == 0 {
			return nil
		}
	}
}

// folds are the ways in which the values of all cells become a number.
var folds = []string{"sum", "min", "max"}

// reduce parses sum|min|max { ... }.
func (p *parser) reduce(key token) error {
	t := p.take()
	if !slices.Contains(folds, t.text) {
		return p.fail(t, "want sum, min or max here, found %s", t)
	}
	p.out.Reduce = &Reduce{Op: t.text}
	return p.skipBlock(key)
}

// until parses < number [every n].
func (p *parser) until(token) error {
	t := p.take()
	if !slices.Contains([]string{"<", "<=", ">", ">="}, t.text) {
		return p.fail(t, "want <, <=, > or >= here, found %s", t)
	}
	v, err := p.literal()
	if err != nil {
		return err
	}
	p.out.Until = &Until{Op: t.text, Limit: v, Every: 1}
	if p.peek().text == "every" {
		p.take()
		at := p.peek()
		if p.out.Until.Every, err = p.integer(); err == nil && (p.out.Until.Every < 1 || p.out.Until.Every > math.MaxInt32) {
			err = p.fail(at, "want a number of steps from 1 to %d", math.MaxInt32)
		}
	}
	return err
}
