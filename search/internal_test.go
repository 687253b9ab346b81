package search

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"stenciltune/outcome"
	"stenciltune/space"
	"stenciltune/space/spacetest"
)

func TestEnumeration(t *testing.T) {
	sp, prior := spacetest.Room()
	c := enumerate(sp, prior, nil)
	if c.size != sp.Size() {
		t.Fatalf("%d points, %d schedules", c.size, sp.Size())
	}
	i := 0
	for s := range sp.All() {
		if c.schedule(i) != s || c.locate(s) != i {
			t.Errorf("point %d: %s, located %d, want %s", i, c.schedule(i), c.locate(s), s)
		}
		if got := math.Exp(c.predicted(i)); math.Abs(got/prior(s)-1) > 1e-12 {
			t.Errorf("%s: predicted %v", s, got)
		}
		i++
	}
}

// TestNeighbours: steps differ in one parameter, trades in two or in the family;
// steps lead both ways.
func TestNeighbours(t *testing.T) {
	sp, _ := spacetest.Room()
	c := enumerate(sp, nil, nil)
	for p := range c.size {
		for _, q := range c.steps(nil, p) {
			if n := differ(c, p, q); n != 1 {
				t.Errorf("%s to %s: %d parameters", c.schedule(p), c.schedule(q), n)
			}
			if !slices.Contains(c.steps(nil, q), p) {
				t.Errorf("no step back from %s to %s", c.schedule(q), c.schedule(p))
			}
		}
		for _, q := range c.trades(nil, p) {
			if n := differ(c, p, q); n != 2 && c.part(p) == c.part(q) {
				t.Errorf("%s to %s: %d parameters", c.schedule(p), c.schedule(q), n)
			}
		}
	}
}

func differ(c *enumeration, p, q int) int {
	k, a := c.values(p)
	l, b := c.values(q)
	if k != l {
		return -1
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestGradient compares the gradient of the density with differences.
func TestGradient(t *testing.T) {
	sp, prior := spacetest.Room()
	c := enumerate(sp, prior, nil)
	f := newFeatures(c)
	r := Rand(1, "test")
	var p []int32
	var y, extra []float64
	for range 25 {
		q := r.IntN(c.size)
		if slices.Contains(p, int32(q)) {
			continue
		}
		p, y, extra = append(p, int32(q)), append(y, r.NormFloat64()), append(extra, 0.01*r.Float64())
	}
	d := newDensity(f, p, y, extra)
	x := d.pack(modes(f))
	for i := range x {
		x[i] += 0.3 * r.NormFloat64()
	}
	grad, scratch := make([]float64, len(x)), make([]float64, len(x))
	d.negative(grad, x)
	for i := range x {
		const h = 1e-5
		at := x[i]
		x[i] = at + h
		up := d.negative(scratch, x)
		x[i] = at - h
		down := d.negative(scratch, x)
		x[i] = at
		if want := (up - down) / (2 * h); math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("slot %+v: gradient %v, differences %v", d.slot[i], grad[i], want)
		}
	}
}

// TestPosterior compares the row by row posterior with the textbook's formulas,
// with believers, values told late and candidates admitted late.
func TestPosterior(t *testing.T) {
	sp, prior := spacetest.Room()
	c := enumerate(sp, prior, nil)
	f := newFeatures(c)
	rapid.Check(t, func(t *rapid.T) {
		cov := newCovariance(f, modes(f))
		order := rapid.Permutation(intsTo(c.size)).Draw(t, "points")
		n := rapid.IntRange(1, 20).Draw(t, "rows")
		rows, rest := order[:n], order[n:]
		cut := rapid.IntRange(0, len(rest)).Draw(t, "early candidates")
		g := newPosterior(cov, to32(rest[:cut]))
		value := make([]float64, n)
		for i, q := range rows {
			value[i] = rapid.Float64Range(-1, 1).Draw(t, "value")
			late := rapid.Bool().Draw(t, "late")
			extra := 0.0
			if i%3 == 0 {
				extra = 0.01
			}
			if !g.add(q, value[i], !late, extra) {
				t.Fatal("not positive definite")
			}
		}
		g.refresh()
		g.more(to32(rest[cut:]))
		for i := range rows {
			g.set(i, value[i])
		}
		g.refresh()

		k := mat.NewSymDense(n, nil)
		row := make([]float64, n)
		for i, q := range rows {
			cov.against(row, q, to32(rows))
			for j := range i {
				k.SetSym(i, j, row[j])
			}
			k.SetSym(i, i, cov.at0(q)+g.error[i])
		}
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			t.Fatal("not positive definite")
		}
		var alpha, w mat.VecDense
		if err := chol.SolveVecTo(&alpha, mat.NewVecDense(n, value)); err != nil {
			t.Fatal(err)
		}
		for i, q := range g.cand {
			cov.against(row, int(q), to32(rows))
			kq := mat.NewVecDense(n, row)
			if err := chol.SolveVecTo(&w, kq); err != nil {
				t.Fatal(err)
			}
			mean, variance := mat.Dot(kq, &alpha), cov.at0(int(q))-mat.Dot(kq, &w)
			if math.Abs(mean-g.mean[i]) > 1e-7 || math.Abs(variance-g.rest[i]) > 1e-7 {
				t.Fatalf("candidate %d: mean %v, variance %v; want %v, %v", q, g.mean[i], g.rest[i], mean, variance)
			}
		}
		for i, a := range g.weights() {
			if math.Abs(a-alpha.AtVec(i)) > 1e-6*(1+math.Abs(a)) {
				t.Fatalf("weight %d: %v, want %v", i, a, alpha.AtVec(i))
			}
		}
	})
}

func intsTo(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

func to32(v []int) []int32 {
	w := make([]int32, len(v))
	for i, x := range v {
		w[i] = int32(x)
	}
	return w
}

// TestBeliever: a believer leaves every mean as it is and shrinks variances.
func TestBeliever(t *testing.T) {
	sp, prior := spacetest.Room()
	c := enumerate(sp, prior, nil)
	f := newFeatures(c)
	g := newPosterior(newCovariance(f, modes(f)), to32(intsTo(c.size)))
	g.add(3, 0.5, true, 0)
	g.add(20, -0.2, true, 0)
	g.refresh()
	mean, rest := slices.Clone(g.mean), slices.Clone(g.rest)
	g.add(11, 0, false, 0)
	g.stale = true
	g.refresh()
	for i := range mean {
		if math.Abs(g.mean[i]-mean[i]) > 1e-12 || g.rest[i] > rest[i]+1e-12 {
			t.Errorf("point %d: mean %v to %v, variance %v to %v", i, mean[i], g.mean[i], rest[i], g.rest[i])
		}
	}
	if !(g.rest[11] < rest[11]/2) {
		t.Errorf("variance at the believer %v, before %v", g.rest[11], rest[11])
	}
}

// TestLogEI against numerical integration, and in order far out.
func TestLogEI(t *testing.T) {
	for _, z := range []float64{-4.9, -3, -1, 0, 1, 3} {
		want := 0.0
		const h = 1e-4
		for y := -12.0; y < z; y += h {
			want += (z - y - h/2) * math.Exp(-(y+h/2)*(y+h/2)/2) / math.Sqrt(2*math.Pi) * h
		}
		if got := logEI(z*2, 0, 2); math.Abs(got-math.Log(2*want)) > 1e-3 {
			t.Errorf("z=%v: %v, want %v", z, got, math.Log(2*want))
		}
	}
	if a, b := logEI(-5+1e-9, 0, 1), logEI(-5-1e-9, 0, 1); math.Abs(a-b) > 2e-3 {
		t.Errorf("a step of %v where the series takes over", a-b)
	}
	last := math.Inf(-1)
	for z := -1e4; z < 10; z += 0.5 {
		v := logEI(z, 0, 1)
		if !(v > last) {
			t.Fatalf("not increasing at z=%v: %v after %v", z, v, last)
		}
		last = v
	}
}

// TestMedians: the constant of the mean is the median residual, and other sources' launches are worth a look up to the
// median of the best's own; of an even number that is between the middle two.
func TestMedians(t *testing.T) {
	values := []int{1, 2, 3}
	sp := space.New(&space.Family{Name: "f", Params: []space.Param{
		{Name: "x", Values: values, Ordinal: true}, {Name: "n", Values: values, Ordinal: true, Launch: true}}})
	b := newBrain(newPool(enumerate(sp, nil, nil)), 1)
	for q, log := range []float64{0, 0.1, 0.3, 0.25} { // three launches of the first source, one of the second
		b.take(q)
		b.tell(q, math.Exp(log), 0, true)
	}
	b.centre(b.training())
	if want := (0.1 + 0.25) / 2; math.Abs(b.offset-want) > 1e-12 {
		t.Errorf("a constant of %v, want %v", b.offset, want)
	}
	if q := b.relaunch(0); q >= 0 {
		t.Errorf("%s is worth a look, of a source that is slower by 0.25; the launches of the best are by 0.1 and 0.3", b.schedule(q))
	}
}

func TestJudge(t *testing.T) {
	sp, prior := spacetest.Room()
	for _, c := range []struct {
		name  string
		truth func(float64) float64
		want  float64
	}{
		{"right", func(t float64) float64 { return t }, 1},
		{"inverted", func(t float64) float64 { return 1e-6 / t }, 0},
	} {
		b := newBrain(newPool(enumerate(sp, prior, nil)), 1)
		n := len(b.queue)
		if n != len(priorSeeds(b.enumeration))+seedsAtRandom {
			t.Errorf("a design of %d", n)
		}
		for range 12 {
			q := b.next()
			b.take(q)
			b.tell(q, c.truth(prior(b.schedule(q))), 0, true)
		}
		b.base = b.timed[b.best].log
		b.judge(b.training())
		if b.slope != c.want {
			t.Errorf("%s: slope %v", c.name, b.slope)
		}
	}
}

// TestDesign: the prior's first, light ones, its next two, those in its order that differ from each
// other in more than one parameter, its first of the other family, and then chance.
func TestDesign(t *testing.T) {
	sp, prior := spacetest.Room()
	c := enumerate(sp, func(s space.Schedule) float64 {
		if s.Family() == "b" {
			return 100 * prior(s) // behind every a
		}
		return prior(s)
	}, nil)
	got := newBrain(newPool(c), 1).queue
	order := c.byPrior()
	var distinct []int
	for _, q := range order {
		_, row := c.values(int(q))
		alike := slices.ContainsFunc(distinct, func(s int) bool {
			_, other := c.values(s)
			return differing(row, other) == 1
		})
		if !alike && len(distinct) < seedsApart {
			distinct = append(distinct, int(q))
		}
	}
	first := slices.IndexFunc(order, func(q int32) bool { return c.part(int(q)) == 1 })
	distinct = append(distinct, int(order[first]))
	var want []int
	for i, q := range distinct {
		more := []int{q}
		if i == 0 {
			more = append(more, light(c)...)
		}
		if i < seedsInOrder {
			more = append(more, int(order[i+1]))
		}
		for _, m := range more {
			if !slices.Contains(want, m) {
				want = append(want, m)
			}
		}
	}
	if len(got) != len(want)+seedsAtRandom || !slices.Equal(got[:len(want)], want) || distinct[1] == int(order[1]) {
		t.Errorf("seeds %v, want %v and %d more; the prior's first are %v", got, want, seedsAtRandom, order[:seedsApart])
	}
}

// TestLight: of what the prior expects near its first, the least values that make a source; parameters of
// the launch and choices do not count.
func TestLight(t *testing.T) {
	f := &space.Family{Name: "f", Params: []space.Param{
		{Name: "x", Values: []int{1, 2, 4, 8, 16}, Ordinal: true},
		{Name: "n", Values: []int{1, 64}, Ordinal: true, Launch: true},
		{Name: "how", Values: []int{0, 9}},
	}}
	// Twice as slow for each halving of x, a little faster with n = 64 and how = 9.
	c := enumerate(space.New(f), func(s space.Schedule) float64 {
		return math.Pow(2, -math.Log2(float64(s.Int("x", 0)))/2) * (1 - 0.001*float64(s.Int("n", 0))/64 - 0.0001*float64(s.Int("how", 0)))
	}, nil)
	var got []string
	for _, q := range light(c) {
		got = append(got, c.schedule(q).String())
	}
	// exp(0.3), exp(0.6) and exp(0.9) leave room for none, one and two halvings.
	if want := []string{"f/x=16/n=64/how=9", "f/x=8/n=64/how=9", "f/x=4/n=64/how=9"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestIdle: proposals of little expected improvement count eightfold while the prior ranks as was
// measured, by half while it roughly does, by a quarter otherwise, and not at all after one of much.
func TestIdle(t *testing.T) {
	const little, much = true, false
	b := &brain{}
	s := &bayes{b: b}
	for i, c := range []struct {
		trust  float64
		little bool
		want   int
	}{{0.9, little, 8}, {0.6, little, 8}, {0.6, little, 9}, {0, little, 9}, {-1, little, 9}, {0.6, little, 10}, {0.9, much, 0}, {0.2, little, 0}, {0.9, little, 8}} {
		b.trust = c.trust
		if b.expect(c.little); s.Converged() != c.want {
			t.Errorf("%d: after a little gain (%v) with trust %v: %d, want %d", i, c.little, c.trust, s.Converged(), c.want)
		}
	}
}

// TestMaternTable: the table is as near as its doc says.
func TestMaternTable(t *testing.T) {
	for r2 := 0.0; r2 < 20; r2 += 1e-3 {
		got := 0.0
		if at := int(r2 * maternPerUnit); at < len(maternTable) {
			got = maternTable[at]
		}
		if math.Abs(got-matern(r2)) > 0.01 {
			t.Errorf("at %v: %v, want %v", r2, got, matern(r2))
		}
	}
}

// TestManyAtOnce: asking for very many at once, unanswered, stays affordable and
// never repeats.
func TestManyAtOnce(t *testing.T) {
	values := make([]int, 40)
	for i := range values {
		values[i] = i + 1
	}
	sp := space.New(&space.Family{Name: "f", Params: []space.Param{
		{Name: "x", Values: values, Ordinal: true}, {Name: "y", Values: values, Ordinal: true}}})
	s, err := New("bayes", Options{Space: sp})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Ask(20) {
		s.Tell([]outcome.Outcome{outcome.At(a, float64(a.Int("x", 0)*a.Int("y", 0))*1e-6, 0)})
	}
	if n := len(s.Ask(1 << 20)); n != sp.Size()-20 {
		t.Errorf("%d proposed, %d are left", n, sp.Size()-20)
	}
	if rows := len(s.(*bayes).b.post.points); rows > maxRows {
		t.Errorf("the model has %d rows", rows)
	}
}
