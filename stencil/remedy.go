package stencil

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Remedies for what programmers write who know C or Fortran and not this language yet.

// foreign are C's words that the language does not have, with what to use instead.
var foreign = map[string]string{
	"while": "use for with constant bounds", "do": "use for with constant bounds", "goto": "use if", "break": "use if",
	"continue": "use if", "switch": "use if", "case": "use if", "static": "remove it", "struct": "use several variables",
	"sizeof": "write the number", "void": "a function returns a value, of several one by its number: float flux(int k) { ... }", "auto": "name the type", "typedef": "name the type", "extern": "remove it",
	"volatile": "remove it", "register": "remove it", "inline": "remove it", "enum": "use const int", "union": "use several variables",
	"default": "use if", "restrict": "remove it", "asm": "remove it", "constexpr": "use const",
}

// meanings are names that nothing declares, in small letters, by what they mostly stand for elsewhere.
var meanings = func() map[string]string {
	all := map[string]string{
		"pi": "write const double PI = 3.14159265358979323846; outside of the functions", "m_pi": "write const double M_PI = 3.14159265358979323846; outside of the functions",
		"true": "write 1", "false": "write 0", "null": "there are no pointers", "size_t": "use int or int64", "real": "types are C's: float, double, int",
		"integer": "types are C's: float, double, int", "logical": "types are C's: float, double, int", "and": "write &&", "or": "write ||", "not": "write !",
	}
	for i, axis := range []string{"x", "y", "z"} {
		extent := fmt.Sprintf("the grid's extent is input_size.%s; a number of your own is declared with ScalarVariables", axis)
		for _, name := range []string{"n" + axis, "size_" + axis, axis + "size"} {
			all[name] = extent
		}
		all["ijk"[i:i+1]] = fmt.Sprintf("the cell's coordinates are x, y and z, from 0; of a loop, declare int %s", "ijk"[i:i+1])
	}
	for _, name := range []string{"t", "it", "iter", "step", "time", "timestep", "nt"} {
		all[name] = "the time step is iteration, from 1 on; a number of your own is declared with ScalarVariables"
	}
	for _, name := range []string{"set", "put"} {
		all[name] = "a cell function returns the cell's new value: return ...;"
	}
	return all
}()

// unknown is the fault of a name that nothing declares.
func (p *parser) unknown(t token) error {
	next := p.peek().text
	meaning, meant := meanings[strings.ToLower(t.text)]
	switch {
	case t.kind != tokName:
		return p.fail(t, "want a name here, found %s", t)
	case foreign[t.text] != "":
		return p.fail(t, "%s is not in the language; %s", t, foreign[t.text])
	case meant:
		return p.fail(t, "unknown name %s; %s", t, meaning)
	case t.text == "Reduce":
		return p.fail(t, "no cell can read the number of Reduce; one that they read is a StepScalar, like StepScalar max m { return ...; }")
	case t.text == "std" && next == ":":
		return p.fail(t, "functions have no std:: before them; remove it")
	case strings.HasSuffix(t.text, "_t"):
		return p.fail(t, "%s is not in the language", t)
	case next == "[":
		return p.fail(t, "unknown name %s; declare an array with Fields (%.40s), or with ReadOnly (%.40s) if no step changes it, and read it with %s", t, t.text, t.text, p.anyGet(t.text))
	case next == "(":
		return p.fail(t, "unknown function %s; write it outside of the cell functions, like float %.40s(float a) { return ...; }, or use one of %s", t, t.text, strings.Join(callable, ", "))
	case p.at >= 3 && p.toks[p.at-2].text == "(" && p.toks[p.at-3].text == "get":
		return p.fail(t, "unknown name %s; if it is an array, declare it with Fields (...) or ReadOnly (%.40s)", t, t.text)
	}
	return p.fail(t, "unknown name %s; declare it first, like float %.40s = ...", t, t.text)
}

// setsElement tells whether indices come next and then an assignment, as of an array in C or Fortran.
func (p *parser) setsElement() bool {
	if !p.is("(") && !p.is("[") {
		return false
	}
	depth := 0
	for i, t := range p.toks[p.at : len(p.toks)-1] {
		switch t.text {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		case ";", "{", "}":
			return false
		}
		if next := p.toks[p.at+i+1].text; depth == 0 && next != "[" && next != "(" {
			return slices.Contains([]string{"=", "+=", "-=", "*=", "/=", "++", "--"}, next)
		}
	}
	return false
}

// callable are the functions that a cell may call.
var callable = slices.Concat([]string{"min", "max", "abs"}, slices.Sorted(maps.Keys(mathFuncs)))

// anyGet is how an array is read, in words.
func (p *parser) anyGet(array string) string {
	axes := p.out.Dims
	if slices.ContainsFunc(p.out.ReadOnly, func(a Array) bool { return a.Name == array && a.Axis > 0 }) {
		axes = 1
	}
	return fmt.Sprintf("get(%.40s%s), at offsets from the own cell", array, strings.Repeat(", 0", axes))
}

// unnamed is the fault of what stands where a new name should.
func (p *parser) unnamed(what string, t token) error {
	more := ""
	switch next := p.peek(); {
	case isTypeWord(t) && next.kind == tokName && (what == "a field" || what == "a read-only array"):
		more = fmt.Sprintf("; its type stands behind it: %.40s: %s", next.text, t.text)
	case isLocalType(t):
		more = fmt.Sprintf(", which is a type; choose another name, like %.40s_", t.text)
	case t.kind == tokName:
		more = ", which is a word of the language; choose another"
	case t.text == "(" && what == "a list of places":
		more = "; like Sources shot (u)"
	}
	return p.fail(t, "want the name of %s here, found %s%s", what, t, more)
}

// wanted is the fault of a mark that is not there.
func (p *parser) wanted(mark string, found token) error {
	before := p.toks[max(0, p.at-2)]
	more := ""
	switch {
	case found.kind == tokName && (found.text == "and" || found.text == "or" || found.text == "not"), found.text == ".":
		more = "; conditions are joined by && and ||"
	case mark == ")" && isTypeWord(found):
		more = fmt.Sprintf("; a type stands behind the name and a colon: %.40s: %s", before.text, found.text)
	case mark == ")" && found.kind == tokNumber:
		more = "; a value stands behind =, in one number"
	case mark == "{" && otherRules[found.text] != "":
		more = "; a side of an axis is low or high"
	case mark == "{" && found.text == "(" && axisOf(before) >= 0:
		more = fmt.Sprintf("; a side stands without parentheses, like %s low", before.text)
	case mark == ";" && found.text == "=":
		more = "; a statement sets one variable"
	case mark == "(" && p.at >= 2 && (before.text == "InputRange" || p.toks[max(0, p.at-3)].text == "InputRange"):
		more = "; like (0, 1), or a set of values: {0, 1}"
	case mark == ")" && found.text == "=":
		more = "; a comparison is =="
	case mark == "(" && (found.text == "=" || found.text == ":"):
		more = "; a key's value follows it at once"
	case mark == "(" && slices.Contains(keys, before.text) && before.text != "InputRange":
		more = fmt.Sprintf("; the values of %s stand in parentheses, with commas between them", before.text)
	case mark == ";" && found.text == ",":
		more = "; a statement sets or returns one value"
		for i := p.at - 2; i > 0 && !strings.Contains(";{}", p.toks[i].text); i-- {
			if p.toks[i].text == "for" {
				more = "; a loop has one variable"
			}
		}
	case mark == "=" && found.text == ":":
		more = fmt.Sprintf("; a loop counts, like for (int %.40s = 0; %.40s < 3; %.40s++)", before.text, before.text, before.text)
	case mark == ";" && found.line > before.line: // the statement is the one before
		return p.fail(token{line: before.line, col: before.col + len(before.text)}, `want ";" here`)
	}
	return p.fail(found, "want %q here, found %s%s", mark, found, more)
}

// noValue is the fault of a mark in the place of a value.
func (p *parser) noValue(t token) error {
	more := ""
	if p.at >= 2 && p.toks[p.at-2].text == t.text {
		switch t.text {
		case "*":
			more = "; a power is pow(a, 2) or a * a"
		case "<", ">":
			more = "; there are no shifts: multiply or divide by 2, 4, 8 ..."
		}
	}
	return p.fail(t, "want a value here, found %s%s", t, more)
}

// noMeaning is the fault of a character that begins no token.
func noMeaning(c rune) string {
	switch c {
	case '&', '|', '^', '~':
		return fmt.Sprintf("character %q has no meaning here: there are no operations on bits; x & 1 is x %% 2, a power is pow(a, 2), and conditions are joined by && and ||", c)
	case '"', '\'':
		return fmt.Sprintf("character %q has no meaning here; there is no text in the language", c)
	case '\\':
		return fmt.Sprintf("character %q has no meaning here; remove it: a statement ends with ;, wherever its lines end", c)
	}
	return fmt.Sprintf("character %q has no meaning here; remove it", c)
}

// otherKeys are the keys that other words stand for, in small letters.
var otherKeys = map[string]string{
	"dimensions": "NumDimensions", "dim": "NumDimensions", "dims": "NumDimensions", "ndims": "NumDimensions", "radius": "StencilSize", "size": "DefaultSize", "gridsize": "DefaultSize",
	"grid": "DefaultSize", "type": "DataType", "name": "FunctionName", "scalars": "ScalarVariables", "parameters": "ScalarVariables", "arrays": "Fields", "variables": "Fields",
	"constants": "ReadOnly", "coefficients": "ReadOnly", "readonlyarrays": "ReadOnly", "staggered": "Short", "boundaries": "Boundary", "bc": "Boundary", "cell": "CellValue",
	"iterations": "Steps", "timesteps": "Steps", "range": "InputRange", "source": "Sources", "receiver": "Receivers", "stop": "Until", "colour": "Color",
}

// unknownKey is the fault of what stands where a key should.
func (p *parser) unknownKey(t token) error {
	if t.kind == tokPunct {
		more := "comments begin with #, // or /*"
		if strings.Contains(";,:=", t.text) {
			more = "none stands between keys, nor between a key and its value; remove it"
		}
		return p.fail(t, "want a key here, found %s: %s", t, more)
	}
	if isRule(t) || axisOf(t) >= 0 {
		return p.fail(t, "want a key here, found %s; each rule has a Boundary of its own, or there is one for each axis in parentheses: Boundary (wrap, clamp)", t)
	}
	if strings.HasPrefix(t.text, "__") {
		return p.fail(t, "%s is not in the language; remove it: a stencil says what a cell becomes, and the kernel is written by tune", t)
	}
	if near := nearestKey(t.text); near != "" {
		return p.fail(t, "unknown key %s; write %s", t, near)
	}
	return p.fail(t, "unknown key %s; the keys are %s", t, strings.Join(keys, ", "))
}

// nearestKey is the key that a word is nearly, or stands for.
func nearestKey(word string) string {
	small := strings.ToLower(strings.ReplaceAll(word, "_", ""))
	if k := otherKeys[small]; k != "" {
		return k
	}
	for _, k := range keys {
		if within(small, strings.ToLower(k), 2) {
			return k
		}
	}
	return ""
}

// within tells whether so many letters left out, put in or changed make one word of the other.
func within(a, b string, edits int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case a == b:
		return true
	case edits == 0:
		return false
	}
	return a != "" && within(a[1:], b, edits-1) || b != "" && within(a, b[1:], edits-1) || a != "" && b != "" && within(a[1:], b[1:], edits-1)
}

// otherRules are boundary rules by the names that they have elsewhere.
var otherRules = func() map[string]string {
	all := map[string]string{}
	add := func(rule string, names ...string) {
		for _, n := range names {
			all[n] = rule
		}
	}
	add("wrap", "periodic", "cyclic", "circular", "repeat", "torus")
	add("mirror", "reflect", "reflecting", "reflective", "symmetric", "symmetry")
	add("clamp", "nearest", "replicate", "edge", "copy", "extrapolate")
	add("constant 0", "zero", "0")
	add("clamp where the wall lies between cells, or mirror where it lies on the outermost ones; neither lets anything through", "neumann", "zeroflux", "noflux", "insulated")
	add("constant with the number outside, or fixed where the grid's own edge cells keep theirs", "dirichlet", "wall")
	add("an axis and the rules of its two sides, like x (constant 0, clamp)", "left", "right", "top", "bottom", "upper", "lower", "north", "south", "east", "west", "front", "back", "low", "high")
	return all
}()

// unknownRule is the fault of what stands where a boundary rule should.
func (p *parser) unknownRule(t token) error {
	if rule := otherRules[strings.ToLower(t.text)]; rule != "" {
		return p.fail(t, "unknown boundary %s; write %s", t, rule)
	}
	if axisOf(t) >= 0 && isRule(p.peek()) {
		return p.fail(t, "want a rule here, found %s; the rules of the axes stand in their order, like (wrap, clamp), or each has a Boundary of its own: Boundary %s %s", t, t.text, p.peek().text)
	}
	return p.fail(t, "unknown boundary %s; use clamp, mirror, wrap, constant with a number, or fixed", t)
}

// inOffset tells whether a name stands in the offsets of a get.
func inOffset(list []token, name string) bool {
	depth, inside := 0, -1
	for i, t := range list {
		switch {
		case t.text == "(":
			depth++
			if inside < 0 && i > 0 && list[i-1].text == "get" {
				inside = depth
			}
		case t.text == ")":
			if depth == inside {
				inside = -1
			}
			depth--
		case inside >= 0 && t.text == name:
			return true
		}
	}
	return false
}

// fewer is how a cell function that returns fewer values than there are fields says which.
func (p *parser) fewer() string {
	if p.fn.key != "CellValue" || len(p.out.Fields) < 2 {
		return ""
	}
	return fmt.Sprintf("; a function that sets some fields alone names them, like CellValue (%.40s)", p.out.Fields[0].Name)
}

// undefined is the fault of a line #define name ... that gives no name to a number, with what says the same. The parser stands behind the name.
func (p *parser) undefined(at, name token) error {
	var rest []token
	for _, t := range p.toks[p.at:] {
		if t.kind == tokEOF || t.line != at.line {
			break
		}
		rest = append(rest, t)
	}
	text := func(list []token) string {
		var words []string
		for _, t := range list {
			words = append(words, t.text)
		}
		return fmt.Sprintf("%.60s", strings.Join(words, " "))
	}
	instead := fmt.Sprintf("write const float %.40s = %s;", name.text, text(rest))
	switch {
	case len(rest) == 0:
		instead = "remove it"
	case rest[0].text == "(" && rest[0].col == name.col+len(name.text):
		end := slices.IndexFunc(rest, func(t token) bool { return t.text == ")" })
		names := strings.FieldsFunc(text(rest[1:max(1, end)]), func(r rune) bool { return r == ' ' || r == ',' })
		for i, n := range names {
			kind := "float "
			if inOffset(rest[max(0, end):], n) {
				kind = "int "
			}
			names[i] = kind + n
		}
		instead = fmt.Sprintf("write a function, float %.40s(%s) { return ...; }", name.text, strings.Join(names, ", "))
	case isTypeWord(rest[0]):
		instead = fmt.Sprintf("write %s where the file says %.40s", text(rest), name.text)
	}
	return p.fail(at, "of #define only names of numbers are read; %s", instead)
}
