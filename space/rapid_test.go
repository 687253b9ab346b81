package space

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawFamily is a random small family with random constraints on random
// parameters; the constraints are arithmetic on the values they say they need.
func drawFamily(t *rapid.T, name string) *Family {
	f := &Family{Name: name}
	for i := range rapid.IntRange(1, 4).Draw(t, "parameters") {
		values := rapid.SliceOfNDistinct(rapid.IntRange(0, 99), 0, 5, rapid.ID).Draw(t, "values")
		slices.Sort(values)
		f.Params = append(f.Params, Param{Name: fmt.Sprintf("p%d", i), Values: values, Optional: rapid.Bool().Draw(t, "optional")})
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "constraints") {
		needs := rapid.SliceOfNDistinct(rapid.IntRange(0, len(f.Params)-1), 1, len(f.Params), rapid.ID).Draw(t, "needs")
		weight := rapid.SliceOfN(rapid.IntRange(-3, 3), len(needs), len(needs)).Draw(t, "weights")
		modulus := rapid.IntRange(1, 5).Draw(t, "modulus")
		c := Constraint{Name: fmt.Sprintf("c%d", i), Why: fmt.Sprintf("why %d", i)}
		for _, n := range needs {
			c.Needs = append(c.Needs, f.Params[n].Name)
		}
		c.OK = func(v Values) bool {
			sum := 0
			for k, n := range c.Needs {
				sum += weight[k] * v.Get(n)
			}
			return sum%modulus == 0
		}
		f.Constraints = append(f.Constraints, c)
	}
	return f
}

// product calls f for the value indices of every point, the last parameter fastest.
func product(f *Family, visit func(idx []int)) {
	idx := make([]int, len(f.Params))
	for {
		for i, p := range f.Params {
			if idx[i] >= len(p.Values) {
				return
			}
		}
		visit(slices.Clone(idx))
		i := len(idx) - 1
		for ; i >= 0; i-- {
			if idx[i]++; idx[i] < len(f.Params[i].Values) {
				break
			}
			idx[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func TestEnumerationIsTheRawProductFilteredByEveryConstraint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		families := []*Family{drawFamily(t, "a"), drawFamily(t, "b")}
		s := New(families...)
		var want []Schedule
		raw := 0
		for _, f := range families {
			product(f, func(idx []int) {
				raw++
				v := Values{family: f}
				for i, k := range idx {
					v.v = append(v.v, f.Params[i].Values[k])
				}
				for _, c := range f.Constraints {
					if !c.OK(v) {
						return
					}
				}
				want = append(want, Make(f.Name, f.Params, v.v))
			})
		}
		got := slices.Collect(s.All())
		if !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if !slices.Equal(slices.Collect(s.All()), got) {
			t.Fatalf("a second walk took another order")
		}
		if first, again := s.Size(), s.Size(); first != len(want) || again != len(want) {
			t.Fatalf("size %d, want %d", s.Size(), len(want))
		}
		if s.Raw() != raw {
			t.Fatalf("raw size %d, want %d", s.Raw(), raw)
		}
		var first []Schedule
		stop := rapid.IntRange(0, len(want)).Draw(t, "stop")
		for sc := range s.All() {
			if len(first) == stop {
				break
			}
			first = append(first, sc)
		}
		if !slices.Equal(first, want[:stop]) {
			t.Fatalf("stopped after %d: %v", stop, first)
		}
	})
}

func TestCheckAgreesWithEnumerationAndNamesABrokenConstraint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFamily(t, "a")
		s := New(f)
		legal := map[Schedule]bool{}
		for sc := range s.All() {
			legal[sc] = true
		}
		product(f, func(idx []int) {
			sc, err := f.Decode(idx)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if got, ok := f.Encode(sc); !ok || !slices.Equal(got, idx) {
				t.Fatalf("%s encodes as %v, %v, was decoded from %v", sc, got, ok, idx)
			}
			err = s.Check(sc)
			if (err == nil) != legal[sc] {
				t.Fatalf("%s: %v, enumerated: %v", sc, err, legal[sc])
			}
			if err == nil {
				return
			}
			r, ok := err.(*Rejection)
			if !ok || r.Schedule != sc {
				t.Fatalf("%s: %#v", sc, err)
			}
			i := slices.IndexFunc(f.Constraints, func(c Constraint) bool { return c.Name == r.Constraint })
			if i < 0 || f.Constraints[i].Why != r.Why {
				t.Fatalf("%s: rejected by %q: %q", sc, r.Constraint, r.Why)
			}
			v, err := f.Values(sc)
			if err != nil {
				t.Fatal(err)
			}
			if f.Constraints[i].OK(Values{family: f, v: v}) {
				t.Fatalf("%s does not break %s", sc, r.Constraint)
			}
		})
	})
}
