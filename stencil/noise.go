package stencil

import (
	"math"
	"slices"
)

// noise is how far off the operations of a run are. Every operation whose result the type
// cannot hold errs by half a unit in the last place of its terms, up or down at random, as
// in Monte Carlo arithmetic (Parker, "Monte Carlo Arithmetic", 1997): what rounding does to a
// program then follows from its numbers, with cancellation and growth, and not from a count
// of operations. A kernel adds in another order, so that a sum errs by its terms, not by what
// is left of them.
type noise struct {
	unit   float64 // the largest relative error of an operation
	split  float64 // 2^(lost bits) + 1: v*split - (v*split - v) is v if the type holds it
	store  float64 // the same two of what is stored; 0 if operations are rounded to that
	stored float64
	least  float64 // the smallest normal number: those below keep its unit, and fewer digits
	lean   float64 // how far comparisons and roundings to integers lean, to which side by its sign
	fine   float64 // and those of what has no traces
	traces traces  // of fields that keep few digits; none are followed where fine is lean
	low    float64 // divisors below low or above 1/low are not divided by
	high   float64 // larger values leave the type's range
	seed   uint32
	double bool // elements are float64, as the numbers of steps and sums always are
	along  bool // every error is upwards and half as large: what errors come to that never cancel
}

// noiseBits is the significand's bits of a run that stands for float64: so far above what
// float64 itself does that it is seen, and small enough that errors stay proportional.
const noiseBits = 37

// noiseOf gives the noise of a problem, and by what errors are to be scaled.
func noiseOf(p Problem, seed uint32, side float64) (noise, float64) {
	d, coarsest := p.DType, p.coarsest()
	f := d.fact()
	// 16-bit elements are computed in float. Sums that are added in another order are larger on the way.
	n := noise{seed: seed, double: d == Float64, least: math.Ldexp(1, f.minExponent), low: 0x1p-126, high: math.MaxFloat32 / 8}
	bits, scale := 24, 1.0
	switch {
	case d.Packed(): // or as they are stored
		bits, n.high = f.mantissa, math.Ldexp(1, 2-f.minExponent)
	case d == Float64:
		bits, scale = noiseBits, math.Ldexp(1, noiseBits-f.mantissa)
		n.low, n.high = 0, math.MaxFloat64/8
	case d != Float32:
		n.store, n.stored = math.Ldexp(1, -f.mantissa), math.Ldexp(1, 53-f.mantissa)+1
		n.high = min(n.high, math.Ldexp(1, 2-f.minExponent))
	}
	n.unit, n.split = math.Ldexp(1, -bits), math.Ldexp(1, 53-bits)+1
	if coarsest > 0 { // which dwarfs what float64 does, and is not scaled
		scale = 1
	}
	n.fine = side * 64 * n.unit * scale
	if n.lean = n.fine; 4*max(n.store, coarsest) > 64*n.unit*scale {
		n.lean, n.traces = side*4*max(n.store, coarsest), p.traces(n.unit)
	}
	return n, scale
}

// holds tells whether a type of which split says the bits has the value v.
func holds(v, split float64) bool {
	t := v * split
	return t-(t-v) == v
}

// off is v with an error of so many units of size, up or down; NaN where v leaves the range.
func (c *evaluation) off(v, size, units float64) float64 {
	n := c.r.noise
	if !(math.Abs(v) <= n.high) {
		return math.NaN()
	}
	if math.Abs(size) < n.least {
		size = n.least
	}
	*c.state ^= *c.state << 13
	*c.state ^= *c.state >> 7
	*c.state ^= *c.state << 17
	switch {
	case n.along:
		size = math.Abs(size) / 2
	case *c.state>>40&1 == 0:
		size = -size
	}
	return v + units*n.unit*size
}

// constant is a number of the program, rounded to the type, everywhere and in every step alike: all
// away from zero in a run that leans up, each to a side of its own in one that leans down.
func (n *noise) constant(v float64) float64 {
	if holds(v, n.split) {
		return v
	}
	unit := n.unit * max(1, n.least/math.Abs(v))
	if b := math.Float64bits(v); n.lean < 0 && mix(uint32(b)^uint32(b>>32)^n.seed)&1 == 0 {
		return v * (1 - unit)
	}
	return v * (1 + unit)
}

// keep is a value as it is stored.
func (c *evaluation) keep(v float64) float64 {
	n := c.r.noise
	switch {
	case !(math.Abs(v) <= n.high):
		return math.NaN()
	case n.store == 0 || v == 0 || holds(v, n.stored) && math.Abs(v) >= n.least:
		return v
	}
	return c.off(v, v, n.store/n.unit)
}

// noisyStored is a value that goes through an array of a type.
func (c *evaluation) noisyStored(x func() (v, square float64), d DType) func() (v, square float64) {
	f := d.fact()
	unit, least := math.Ldexp(1, -f.mantissa)/c.r.noise.unit, math.Ldexp(1, f.minExponent)
	return func() (float64, float64) {
		v, _ := x()
		r := d.Round(v)
		if math.IsInf(r, 0) {
			v = math.NaN()
		} else if r != v {
			v = c.off(v, max(math.Abs(v), least), unit)
		}
		return v, v * v
	}
}

// units of error that functions are granted: those of CUDA's tables for float and double, which
// are at most 4 units in the last place (8 halves), but for pow. Quotients, roots, exponentials, logarithms and powers: arithmetic.cu.
const (
	quotientUnits = 4
	rootUnits     = 4
	functionUnits = 8
	powUnits      = 16
	// More in float: of an exponential for each unit of its argument's size; of a power of its exponent's, and of that times the logarithm's to
	// base 2; of a logarithm near 0 one to base 2 errs by as many units of 1.
	exponentUnits  = 1.25
	logarithmUnits = 4
)

// leaning is a value just before a decision: moved to a side, unless it is as exact as it looks.
func (c *evaluation) leaning(x func() (v, square float64), e Expr) func() float64 {
	n, lean := c.r.noise, c.lean(e)
	return func() float64 {
		v, square := x()
		if !holds(v, n.split) {
			return v + lean*math.Sqrt(square)
		}
		return v
	}
}

// lean is how far a decision about values leans.
func (c *evaluation) lean(values ...Expr) float64 {
	n := c.r.noise
	if n.lean != n.fine && !slices.ContainsFunc(values, func(e Expr) bool { return n.traces.of(e, c.near, c.traced) }) {
		return n.fine
	}
	return n.lean
}

// noisy turns a floating-point expression into a closure that errs. It gives the value and the
// square of the size of the terms that it is a sum of: a kernel that multiplies them out rounds
// each by itself.
func (c *evaluation) noisy(e Expr) func() (v, square float64) {
	r, n := c.r, c.r.noise
	plain := func(f func() float64) func() (v, square float64) {
		return func() (float64, float64) { v := f(); return v, v * v }
	}
	switch e := e.(type) {
	case Num:
		v := n.constant(r.literal(e))
		return func() (float64, float64) { return v, v * v }
	case Scalar:
		v := n.constant(r.scalars[e.Index])
		return func() (float64, float64) { return v, v * v }
	case Local:
		grow(&c.localSquares, e.Index)
		return func() (float64, float64) { return c.localFloats[e.Index], c.localSquares[e.Index] }
	case Neg:
		x := c.noisy(e.X)
		return func() (float64, float64) { v, s := x(); return -v, s }
	case Cast:
		if from := e.X.typ(); !from.Floating() {
			x := c.integer(e.X)
			return plain(func() float64 {
				v := from.asFloat(x())
				if holds(v, n.split) {
					return v
				}
				return c.off(v, v, 1)
			})
		}
		if d, ok := e.storesAs(); ok {
			return c.noisyStored(c.noisy(e.X), d)
		}
		return c.noisy(e.X)
	case Binary:
		return c.noisyBinary(e)
	case Cond:
		test, a, b := c.integer(e.If), c.noisy(e.Then), c.noisy(e.Else)
		return func() (float64, float64) {
			if test() != 0 {
				return a()
			}
			return b()
		}
	case Call:
		return c.noisyCall(e)
	}
	return plain(c.exact(e)) // what is read, without an operation
}

func (c *evaluation) noisyBinary(e Binary) func() (v, square float64) {
	n := c.r.noise
	if e.Op == "+" || e.Op == "-" {
		return c.noisySum(e)
	}
	x, y := c.noisy(e.X), c.noisy(e.Y)
	if e.Op == "*" {
		return func() (float64, float64) {
			a, sa := x()
			b, sb := y()
			v, s := a*b, max(sa*b*b, a*a*sb)
			if holds(v, n.split) {
				return v, s
			}
			return c.off(v, math.Sqrt(s), 1), s
		}
	}
	if d, ok := e.Y.(Num); ok && finite(1/d.Value) { // a product with its reciprocal
		inverse := n.constant(1 / d.Value)
		return func() (float64, float64) {
			a, s := x()
			v := a * inverse
			s *= inverse * inverse
			if holds(v, n.split) {
				return v, s
			}
			return c.off(v, math.Sqrt(s), 1), s
		}
	}
	return func() (float64, float64) {
		a, sa := x()
		b, _ := y()
		v, s := a/b, sa/(b*b)
		if f, _ := math.Frexp(math.Abs(b)); f == 0.5 && holds(v, n.split) { // a power of two
			return v, s
		}
		if d := math.Abs(b); d != 0 && n.low > 0 && !(d >= n.low && d*n.low <= 1) {
			return math.NaN(), s
		}
		return c.off(v, math.Sqrt(s), quotientUnits), s
	}
}

// noisySum adds terms up from the left in one loop: a filter has a thousand, and calls as deep in each other take longer.
func (c *evaluation) noisySum(e Binary) func() (v, square float64) {
	type addend struct {
		value func() (v, square float64)
		sign  float64
	}
	n, first := c.r.noise, Expr(e)
	var rest []Binary // from the right
	for {
		b, is := first.(Binary)
		if !is || b.Op != "+" && b.Op != "-" {
			break
		}
		first, rest = b.X, append(rest, b)
	}
	x, terms := c.noisy(first), []addend{}
	for _, b := range slices.Backward(rest) {
		sign := 1.0
		if b.Op == "-" {
			sign = -1
		}
		terms = append(terms, addend{c.noisy(b.Y), sign})
	}
	return func() (float64, float64) {
		a, sa := x()
		for _, t := range terms {
			b, sb := t.value()
			nothing := sa == 0 || sb == 0 // is added to
			a, sa = a+t.sign*b, sa+sb
			if nothing {
				continue
			}
			if sa = max(sa, a*a); holds(a, n.split) {
				sa += a * a / 4 // a kernel that multiplies the terms out rounds their sum as well
			} else {
				a = c.off(a, math.Sqrt(sa), 1)
			}
		}
		return a, sa
	}
}

func (c *evaluation) noisyCall(e Call) func() (v, square float64) {
	n, f := c.r.noise, mathFuncs[e.Func].eval
	x := c.noisy(e.Args[0])
	y := func() (float64, float64) { return 0, 0 }
	if len(e.Args) == 2 {
		y = c.noisy(e.Args[1])
	}
	units, reciprocal, least := func(x, y float64) float64 { return functionUnits }, false, 0.0 // of what size it errs at least
	switch e.Func {
	case "fabs", "fmin", "fmax":
		return func() (float64, float64) {
			a, sa := x()
			b, sb := y()
			v := f(a, b)
			if v == b && v != a {
				return v, sb
			}
			return v, sa
		}
	case "floor", "ceil", "trunc", "round":
		decided := c.leaning(x, e.Args[0])
		return func() (float64, float64) {
			v := f(decided(), 0)
			return v, v * v
		}
	case "fmod": // which decides whether the first is a multiple of the second
		lean := c.lean(e.Args...)
		return func() (float64, float64) {
			a, sa := x()
			b, sb := y()
			if !holds(a, n.split) || !holds(b, n.split) {
				a += lean * math.Sqrt(sa+a*a*sb/(b*b))
			}
			v := f(a, b)
			return v, v * v
		}
	case "sqrt", "rsqrt":
		units = func(x, y float64) float64 { return rootUnits }
	case "pow":
		units = powerUnits(e, n.double)
		_, exponent := power(e)
		reciprocal = exponent < 0
	case "exp":
		if !n.double {
			units = func(x, y float64) float64 { return functionUnits + exponentUnits*math.Abs(x) }
		}
	case "log", "log2", "log10":
		if !n.double {
			least = f(2, 0) * (logarithmUnits + 1) / functionUnits // and one to round it
		}
	}
	return func() (float64, float64) {
		a, _ := x()
		b, _ := y()
		v := f(a, b)
		if d := math.Abs(v); reciprocal && n.low > 0 && !(d >= n.low && d*n.low <= 1) {
			return math.NaN(), v * v
		}
		if holds(v, n.split) && (v == 0 || a == 0 || a == 1) { // as exp(0)
			return v, v * v
		}
		size := v
		if math.Abs(v) < least {
			size = least
		}
		v = c.off(v, size, units(a, b))
		return v, v * v
	}
}

// noisyCompare leans where an operand errs: a kernel may decide either way there, and two runs that
// lean to different sides show what follows.
func (c *evaluation) noisyCompare(e Binary) func() int64 {
	n := c.r.noise
	x, y, lean := c.noisy(e.X), c.noisy(e.Y), c.lean(e.X, e.Y)
	return func() int64 {
		a, sa := x()
		b, sb := y()
		if !holds(a, n.split) || !holds(b, n.split) {
			a += lean * math.Sqrt(sa+sb)
		}
		return bit(compareFloats(e.Op, a, b))
	}
}
