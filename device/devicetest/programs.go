package devicetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"stenciltune/stencil"
)

// program writes a random stencil file.
type program struct {
	strings.Builder
	r       *rand.Rand
	dims    int
	reach   int // of its offsets on every axis
	whole   bool
	fields  []string
	arrays  []string // named read-only ones
	indexed bool     // read() reads the array without a name
}

func (p *program) add(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// one is one of a list.
func one[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// chance is true once in n times.
func (p *program) chance(n int) bool { return p.r.IntN(n) == 0 }

// offset is a random point, as the arguments of get.
func (p *program) offset() string {
	return strings.Join(p.point(func() int { return 1 + p.r.IntN(p.reach) }), ", ")
}

// near is a random point no further than so many cells on any axis.
func (p *program) near(reach int) []string { return p.point(func() int { return reach }) }

// point is a random point, no further on an axis than reach gives for it.
func (p *program) point(reach func() int) []string {
	list := make([]string, p.dims)
	for a := range list {
		far := reach()
		list[a] = fmt.Sprint(p.r.IntN(2*far+1) - far)
	}
	return list
}

// own is the own cell, as the arguments of get.
func (p *program) own() string { return strings.TrimSuffix(strings.Repeat("0, ", p.dims), ", ") }

// head writes the keys that every file has.
func (p *program) head() {
	p.add("NumDimensions %d StencilSize (%s) ", p.dims, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d, ", p.reach), p.dims), ", "))
}

// randomMean is the mean of up to seven random points, or nearly so, whose reach
// differs from axis to axis and from side to side.
func randomMean(r *rand.Rand) string {
	p := &program{r: r, dims: 1 + r.IntN(3), reach: 3}
	p.head()
	var terms []string
	points := 1 + r.IntN(7)
	for range points {
		terms = append(terms, "get("+p.offset()+")")
	}
	if p.chance(3) { // no weighted sum
		terms[0] = "fmax(" + terms[0] + ", " + terms[points-1] + ")"
	}
	p.add("CellValue { return %.6f * (%s); }", 1/float64(points), strings.Join(terms, " + "))
	return p.String()
}

// fieldNames are names that generated code uses for something else, and plain ones.
var fieldNames = [][]string{{"f", "g", "h"}, {"px", "grid", "T"}, {"in_0", "get_1", "out_0"}, {"cell", "v0", "FIELDS"}}

// RandomProgram is a file that uses the whole language: up to three fields, read-only arrays,
// scalars, one to three stages, any boundary rule or an EdgeValue for each field,
// every element type, points beyond the extents of small grids, a Reduce that is
// only stepped, and cell functions that ask for the position and the iteration.
// Floating-point values stay bounded and depend continuously on what is read.
func RandomProgram(r *rand.Rand) string { return randomProgram(r, false, asElements) }

// randomMixed is such a file whose boundary rules differ by axis, side and field.
func randomMixed(r *rand.Rand) string { return randomProgram(r, true, asElements) }

// randomStored is such a file whose read-only arrays are stored in types of their own.
func randomStored(r *rand.Rand) string { return randomProgram(r, r.IntN(3) == 0, arraysStored) }

// randomFields is such a file whose fields are, and now and then its read-only arrays.
func randomFields(r *rand.Rand) string {
	return randomProgram(r, r.IntN(3) == 0, one(r, fieldsStored, fieldsStored|arraysStored))
}

// storage is which arrays of a random program are stored in types of their own.
type storage int

const (
	asElements   storage = 0
	arraysStored storage = 1 << (iota - 1)
	fieldsStored
)

// randomProgram draws programs until no divisor of one is known to be 0.
func randomProgram(r *rand.Rand, mixed bool, stored storage) string {
	for {
		text := drawProgram(r, mixed, stored)
		if _, err := stencil.Parse("random", "random.sl", text); err == nil || !strings.Contains(err.Error(), "division by zero") {
			return text
		}
	}
}

func drawProgram(r *rand.Rand, mixed bool, stored storage) string {
	p := &program{r: r, dims: 1 + r.IntN(3), reach: one(r, 1, 2, 3, 3, 5, 9)}
	p.fields = one(r, fieldNames...)[:1+r.IntN(3)]
	p.head()
	if p.whole = p.chance(3); p.whole {
		integers := []stencil.DType{stencil.Int8, stencil.Int16, stencil.Int32, stencil.Int64, stencil.Uint8, stencil.Uint16, stencil.Uint32, stencil.Uint64}
		if stored != asElements { // the element type holds every value of the arrays'
			integers = []stencil.DType{stencil.Int16, stencil.Int32, stencil.Int64}
		}
		p.add("DataType %s InputRange (0, 100) ", one(r, integers...))
	}
	types := []stencil.DType{stencil.Int8, stencil.Uint8}
	if !p.whole {
		types = append(types, stencil.Float16, stencil.BFloat16, stencil.Float32, stencil.Float64, stencil.Int16, stencil.Uint32)
	}
	if stored&arraysStored != 0 {
		p.arrays = []string{"ro", "power"}
		p.add("ReadOnly (ro: %s, power%s) ", one(r, types...), one(r, "", ": "+string(one(r, types...))))
	} else if p.chance(2) {
		p.arrays = []string{"ro", "power"}[:1+r.IntN(2)]
		p.add("ReadOnly (%s) ", strings.Join(p.arrays, ", "))
	} else {
		p.indexed = p.chance(2)
	}
	fields := slices.Clone(p.fields)
	for i := range fields {
		if stored&fieldsStored != 0 && (i == 0 || p.chance(2)) {
			fields[i] += ": " + string(one(r, types...))
		}
	}
	p.add("Fields (%s) ScalarVariables (%s, int n = 3) ", strings.Join(fields, ", "), choose(p.whole, one(r, "int64 a = 5", "uint8 a = 200", "float a = 1.5"), "float a = 0.5"))
	if mixed || p.chance(6) {
		p.mixed()
	} else {
		p.boundary()
	}
	if p.chance(4) {
		p.add("Reduce %s { return value%s; } Until < 0 every 3 ", one(r, "sum", "min", "max"), choose(len(p.fields) > 1, "("+p.fields[0]+")", ""))
	}
	set := append([]string(nil), p.fields...)
	r.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
	names := []string{"first", "second", "third"}[:one(r, 1, 1, 2, 3)]
	if len(names) > 1 {
		p.add("Stages (%s) ", strings.Join(names, ", "))
	} else {
		names[0] = ""
	}
	for i, name := range names {
		outputs := set[:1+r.IntN(len(set))]
		if i == 1 {
			outputs = set[r.IntN(len(set)):]
		}
		p.stage(name, outputs)
	}
	return p.String()
}

// boundary writes the rule for what lies outside the grid.
func (p *program) boundary() {
	rule := one(p.r, "clamp", "mirror", "wrap", "fixed", "constant 2", "", "")
	if rule != "" {
		p.add("Boundary %s ", rule)
		return
	}
	if len(p.fields) == 1 || p.chance(3) {
		p.add("EdgeValue { return %s; } ", p.edge())
		return
	}
	for _, f := range p.fields {
		p.add("EdgeValue %s { return %s; } ", f, p.edge())
	}
}

// edge is what EdgeValue may return.
func (p *program) edge() string {
	if p.whole {
		return one(p.r, "value + x - input_size.x", "y < 0 ? x * z : value / 2", "iteration % 7 + n")
	}
	return one(p.r, "0.5 * value + 0.001 * (x - iteration)", "x < 0 || y > 2 ? 0.25 : value", "a * value")
}

// mixed writes rules that differ by axis, most by side, some by field, and now and then an EdgeValue for a side.
func (p *program) mixed() {
	rules := []string{"clamp", "fixed", "fixed", "constant 2", "constant 1"}
	if p.chance(2) { // stream knows mirrors of all arrays alone
		rules = append(rules, "mirror", "mirror", "mirror")
	}
	rule := func() string { return one(p.r, rules...) }
	var axes []string
	var free []int // axes that do not wrap
	for a := range p.dims {
		switch {
		case p.chance(3):
			axes = append(axes, "wrap")
			continue
		case p.chance(3):
			axes = append(axes, rule())
		default:
			axes = append(axes, fmt.Sprintf("(%s, %s)", rule(), rule()))
		}
		free = append(free, a)
	}
	p.add("Boundary (%s) ", strings.Join(axes, ", "))
	if len(free) == 0 {
		return
	}
	for _, f := range p.fields {
		switch axis := "xyz"[one(p.r, free...)]; p.r.IntN(3) {
		case 0:
			p.add("Boundary %s %c (%s, %s) ", f, axis, rule(), rule())
		case 1:
			p.add("EdgeValue %s %c %s { return %s; } ", f, axis, one(p.r, "low", "high", "low", ""), p.edge())
		}
	}
	for _, a := range p.arrays {
		if axis := "xyz"[one(p.r, free...)]; p.chance(3) {
			p.add("Boundary %s %c (%s, %s) ", a, axis, one(p.r, "clamp", "mirror"), one(p.r, "clamp", "mirror"))
		}
	}
}

// stage writes a cell function.
func (p *program) stage(name string, outputs []string) {
	p.add("CellValue %s (%s) { ", name, strings.Join(outputs, ", "))
	value := p.mean
	if p.whole {
		value = func() string { return p.arithmetic(2) }
	}
	here := fmt.Sprintf("get(%s, %s)", p.fields[0], p.own())
	p.add("%s v1 = %s, sum = 0; ", choose(p.whole, "int64", "float"), here)
	if p.chance(3) {
		p.add("for (int i = -1; i <= 1; i++) sum += get(%s, i%s); ", one(p.r, p.fields...), strings.Repeat(", 0", p.dims-1))
		p.add("v1 = %s; ", choose(p.whole, "sum / 3 + v1", "0.25 * (sum + v1)"))
	}
	if p.chance(3) {
		p.add("if (%s) v1 = %s; else { sum = v1; v1 = %s; } ", one(p.r, "x % 3 == n - 2", "iteration > 2 && x < y", "input_size.x - x < 5"), value(), value())
	}
	p.add("return ")
	for i := range outputs {
		if i > 0 {
			p.add(", ")
		}
		if i > 0 && p.chance(3) { // an older level
			p.add("get(%s, %s)", outputs[i-1], p.own())
			continue
		}
		p.add("%s", value())
	}
	p.add("; } ")
}

// read is a random value that is read.
func (p *program) read() string {
	switch k := p.r.IntN(5); {
	case k == 0 && len(p.arrays) > 0:
		return fmt.Sprintf("get(%s, %s)", one(p.r, p.arrays...), p.own())
	case k == 1 && len(p.arrays) > 0:
		return fmt.Sprintf("get(%s, %s)", one(p.r, p.arrays...), p.offset())
	case k < 2 && p.indexed:
		return one(p.r, "read(iteration * input_size.x + x)", "read(y * input_size.x + x)", "read(7 * x - 3)")
	case k == 2:
		return "v1"
	}
	return fmt.Sprintf("get(%s, %s)", one(p.r, p.fields...), p.offset())
}

// mean is a floating-point value no larger than what it is made of.
func (p *program) mean() string {
	terms := []string{"a"}
	for range 1 + p.r.IntN(4) {
		t := p.read()
		switch p.r.IntN(8) {
		case 0:
			t = "fmin(" + t + ", " + p.read() + ")"
		case 1:
			t = "fabs(" + t + ")"
		case 2:
			t = "sin(" + t + ")"
		case 3:
			t = "(" + one(p.r, "x > n", "iteration % 2 == 0", "z == 0") + " ? " + t + " : -" + p.read() + ")"
		}
		terms = append(terms, t)
	}
	if p.chance(4) {
		terms = append(terms, "0.01 * (x - iteration)")
	}
	return fmt.Sprintf("%.6f * (%s)", 1/float64(len(terms)), strings.Join(terms, " + "))
}

// arithmetic is any value of integers: they are exact.
func (p *program) arithmetic(depth int) string {
	if depth == 0 {
		return one(p.r, p.read(), p.read(), p.read(), "x", "iteration", "n", "7", "(int)a")
	}
	sub := func() string { return p.arithmetic(depth - 1) }
	switch p.r.IntN(10) {
	case 0:
		return one(p.r, "min", "max") + "(" + sub() + ", " + sub() + ")"
	case 1:
		return "(" + sub() + one(p.r, " < ", " == ", " >= ", " && ") + sub() + " ? " + sub() + " : " + sub() + ")"
	case 2:
		return "(" + one(p.r, "int8", "unsigned", "int64", "uint64", "short") + ")(" + sub() + ")"
	case 3:
		return "abs(" + sub() + ")"
	case 4:
		return "-(" + sub() + ")"
	}
	return "(" + sub() + one(p.r, " + ", " - ", " * ", " / ", " % ", " + ") + sub() + ")"
}

func choose(c bool, a, b string) string {
	if c {
		return a
	}
	return b
}

// randomSum is a weighted sum of points under any rule at the edges: of all boundary rules and
// kinds of EdgeValue, and with cells that the cell function itself holds.
func randomSum(r *rand.Rand) string {
	p := &program{r: r, dims: 1 + r.IntN(3)}
	p.reach = one(r, 1, 1, 1, 2, 2, 3)
	p.head()
	p.add("%s CellValue { %sreturn %s; }", p.outside(), p.heldByHand(), p.sum())
	return p.String()
}

// outside is a rule for what lies outside.
func (p *program) outside() string {
	axis := string("xyz"[p.r.IntN(p.dims)])
	if p.chance(2) {
		rule := func() string { return one(p.r, "clamp", "mirror", "fixed", "constant 0.5", "constant -0.25") }
		axes := make([]string, p.dims)
		for a := range axes {
			axes[a] = one(p.r, "wrap", rule(), fmt.Sprintf("(%s, %s)", rule(), rule()), fmt.Sprintf("(%s, %s)", rule(), rule()))
		}
		return fmt.Sprintf("Boundary (%s)", strings.Join(axes, ", "))
	}
	return one(p.r, "Boundary clamp", "Boundary wrap", "Boundary mirror", "Boundary mirror", "Boundary fixed", "Boundary fixed",
		fmt.Sprintf("Boundary constant %.3f", p.r.Float64()-0.5), "EdgeValue { return value; }", "EdgeValue { return -0.25; }",
		fmt.Sprintf("EdgeValue { return %s < 0 ? 0.75 : 0.5 * value; }", axis),
		fmt.Sprintf("EdgeValue { return 0.01 * (%s + iteration %% 3); }", axis))
}

// heldByHand is, one time in four, a statement that holds cells at the edges: as many as the reach at
// every end, or any number at some.
func (p *program) heldByHand() string {
	if !p.chance(4) {
		return ""
	}
	all, width := p.chance(2), p.reach
	var tests []string
	for a := range p.dims {
		axis := "xyz"[a : a+1]
		if n := width + p.r.IntN(2); all || p.chance(2) {
			tests = append(tests, one(p.r, fmt.Sprintf("%s < %d", axis, n), fmt.Sprintf("%d >= %s", n-1, axis)))
		}
		if n := p.r.IntN(3); all || p.chance(2) {
			n = max(n, 1)
			if all {
				n = width
			}
			tests = append(tests, one(p.r, fmt.Sprintf("%s >= input_size.%[1]s - %d", axis, n), fmt.Sprintf("%s > input_size.%[1]s - %d", axis, n+1)))
		}
	}
	if len(tests) == 0 {
		return ""
	}
	return fmt.Sprintf("if (%s) return get(%s); ", strings.Join(tests, " || "), p.own())
}

// sum is a sum of points whose weights add up to 1: a star or a box, whole or in part, with equal weights,
// with some alike or none, and with or without a constant term.
func (p *program) sum() string {
	kind, star := p.r.IntN(3), p.chance(2)
	var low, high [3]int
	for a := range p.dims {
		low[a], high[a] = -p.reach, p.reach
		if p.chance(4) {
			low[a] = -p.r.IntN(p.reach + 1)
		}
	}
	behind := p.dims == 3 && p.chance(6) // no rows in the newest plane
	var terms []string
	var weights []float64
	total := 0.0
	for z := low[2]; z <= high[2]; z++ {
		for y := low[1]; y <= high[1]; y++ {
			for x := low[0]; x <= high[0]; x++ {
				away := 0
				for _, d := range []int{x, y, z} {
					if d != 0 {
						away++
					}
				}
				if behind && y != 0 && z == high[2] || star && away > 1 || p.reach > 1 && p.dims == 3 && !star && p.chance(2) || len(terms) > 40 {
					continue
				}
				w := 1.0
				switch kind {
				case 1:
					w = float64(1 + away)
				case 2:
					w = 0.5 + p.r.Float64()
				}
				terms, weights, total = append(terms, fmt.Sprintf("get(%s)", strings.Join(strings.Fields(fmt.Sprint(x, y, z))[:p.dims], ", "))), append(weights, w), total+w
			}
		}
	}
	for i, w := range weights {
		terms[i] = fmt.Sprintf("%.9f * %s", w/total, terms[i])
	}
	if p.chance(5) {
		terms = append(terms, "0.125")
	}
	return strings.Join(terms, " + ")
}

// randomCoupled is a program of fields that diffuse by read-only arrays and are multiplied with each other, of arrays and fields
// in several types: its errors grow most where its values do.
func randomCoupled(r *rand.Rand) string {
	p := &program{r: r, dims: 1 + r.IntN(3), reach: 1, arrays: []string{"k", "m"}[:1+r.IntN(2)]}
	p.fields = []string{"u", "v", "w"}[:1+r.IntN(3)]
	p.head()
	types := func(names []string) string {
		typed := slices.Clone(names)
		for i := range typed {
			typed[i] += one(r, "", ": float16", ": bfloat16", ": float")
		}
		return strings.Join(typed, ", ")
	}
	p.add("DataType %s ReadOnly (%s) ", one(r, "float", "float", "float", "double", "float16", "bfloat16"), types(p.arrays))
	fields := strings.Join(p.fields, ", ")
	if p.chance(4) {
		fields = types(p.fields)
	}
	p.add("Fields (%s) Boundary %s InputRange %s CellValue { ", fields, one(r, "wrap", "mirror", "fixed"), one(r, "(-1, 1)", "(0, 1)", "(0.5, 1.5)"))
	near := func(list []string) string { return fmt.Sprintf("get(%s, %s)", one(r, list...), p.offset()) }
	var values []string
	for _, f := range p.fields {
		own := fmt.Sprintf("get(%s, %s)", f, p.own())
		var star []string
		for a := range p.dims {
			for _, d := range []int{-1, 1} {
				at := strings.Split(p.own(), ", ")
				at[a] = fmt.Sprint(d)
				star = append(star, fmt.Sprintf("get(%s, %s)", f, strings.Join(at, ", ")))
			}
		}
		flow := fmt.Sprintf("%.3f * get(%s, %s) * (%s - %d * %s)", 0.05+0.1*r.Float64(), one(r, p.arrays...), p.own(), strings.Join(star, " + "), 2*p.dims, own)
		sign := one(r, "+", "-")
		values = append(values, one(r,
			fmt.Sprintf("%s + %s %s 0.0%d * %s * %s", own, flow, sign, 1+r.IntN(9), own, near(p.fields)),
			fmt.Sprintf("0.9 * %s %s 0.1 * %s * %s", own, sign, near(p.arrays), near(p.fields)),
			fmt.Sprintf("%s + %s", own, flow),
			fmt.Sprintf("%s %s %.3f * %s * (1 - %s) * %s", own, sign, 0.1*r.Float64(), own, own, near(p.arrays)),
			fmt.Sprintf("%.2f * (%s) / (1 + %s * %s) %s 0.1 * %s", 0.5/float64(p.dims), strings.Join(star, " + "), own, own, sign, near(p.arrays)),
		))
	}
	p.add("return %s; }", strings.Join(values, ", "))
	return p.String()
}

// randomShared is a program whose neighbouring cells compute alike what costs most: functions of a few points, read at several
// places or summed over a box. Kernels may make stages of those (stencil.Hidden). Its stages read what the ones before set.
func randomShared(r *rand.Rand) string {
	p := &program{r: r, dims: 1 + r.IntN(3), reach: 4, arrays: []string{"k"}[:r.IntN(2)]}
	p.fields = []string{"u", "v", "w"}[:1+r.IntN(3)]
	p.head()
	p.add("DataType %s Fields (%s) ScalarVariables (float a = 0.5, int n = 3) ", one(r, "float", "float", "double"), strings.Join(p.fields, ", "))
	if len(p.arrays) > 0 {
		p.add("ReadOnly (k%s) ", one(r, "", ": uint8", ": float"))
	}
	if p.chance(2) {
		p.mixed()
	} else {
		p.boundary()
	}
	names := []string{"first", "second", "third"}[:one(r, 1, 2, 2, 3)]
	if len(names) > 1 {
		p.add("Stages (%s) ", strings.Join(names, ", "))
	} else {
		names[0] = ""
	}
	for i, name := range names {
		p.add("CellValue %s (%s) { float s = 0, q = 0; ", name, p.fields[i%len(p.fields)])
		value := p.alike()
		if p.chance(2) {
			at, n := []string{"i", "j", "l"}[:p.dims], 1
			for a := range at {
				width := r.IntN(3)
				n *= 2*width + 1
				p.add("for (int %s = -%d; %[1]s <= %d; %[1]s++) ", at[a], width, width)
			}
			p.add("s += %s%.6f * %s; ", one(r, "", "(3 - abs(i)) * "), 0.5/float64(n), value(at))
		} else {
			for range 2 + r.IntN(4) {
				p.add("s += %.2f * %s; ", 0.3*r.Float64(), value(p.near(2)))
			}
		}
		if p.chance(2) {
			other := p.alike()
			for range 2 {
				p.add("q += %.2f * %s; ", 0.3*r.Float64(), other(p.near(1)))
			}
		}
		p.add("return %s; } ", one(r, "0.5 * s + 0.3 * q", fmt.Sprintf("0.3 * get(%s, %s) + 0.2 * s + 0.1 * sin(q)", p.fields[0], strings.Join(p.near(1), ", ")), fmt.Sprintf("0.3 * get(%s, %s) + 0.2 * s * q", p.fields[0], p.own())))
	}
	return p.String()
}

// alike is a function of one or two points around a place.
func (p *program) alike() func(at []string) string {
	here, there := one(p.r, append(p.fields, p.arrays...)...), one(p.r, p.fields...)
	aside := make([]int, p.dims)
	aside[p.r.IntN(p.dims)] = p.r.IntN(3) - 1
	form := p.r.IntN(4)
	return func(at []string) string {
		beside := make([]string, p.dims)
		for a := range beside {
			beside[a] = fmt.Sprintf("%s + %d", at[a], aside[a])
		}
		x, y := fmt.Sprintf("get(%s, %s)", here, strings.Join(at, ", ")), fmt.Sprintf("get(%s, %s)", there, strings.Join(beside, ", "))
		switch form {
		case 0:
			return fmt.Sprintf("sin(%s * %s)", x, y)
		case 1:
			return fmt.Sprintf("sqrt(1 + %s * %[1]s + %s * %[2]s)", x, y)
		case 2:
			return fmt.Sprintf("(%s - %s) / (1.5 + sin(%[2]s))", x, y)
		}
		return x
	}
}
