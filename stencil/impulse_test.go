package stencil

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
)

var flagImpulses = flag.Bool("impulses", false, "every stencil's points from random values and from impulses, minutes")

// impulses are start data whose elements are the middle of their range, but for one in 29.
func impulses(p Problem, seed uint32) Data {
	d := Start(p, seed)
	n := uint32(0)
	for a, array := range slices.Concat(d.Fields, d.ReadOnly) {
		middle := p.DType.Round(p.InputScale(a).of(1<<23, true))
		for i := range array.Float {
			if n++; mix(n+seed)%29 != 0 {
				array.Float[i] = middle
			}
		}
	}
	return d
}

// Proofs start from random values and not from impulses: a wrong cell that is read in place of any point that
// counts shows by ten bounds and more, in every floating-point stencil of the catalogue. Impulses show some points better and others hardly.
func TestRandomValuesShowEveryPoint(t *testing.T) {
	unused := map[string]int{"rhs4center": 3} // their values count for nothing
	names := []string{"acoustic3d", "box9", "weno5", "jacobi2d"}
	if *flagImpulses {
		names = Names()
	}
	for _, name := range names {
		st, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []DType{Float32, Float64} {
			if !st.DType.Floating() || !*flagImpulses && dtype != st.DType {
				continue
			}
			p := Problem{Stencil: st, DType: dtype}.around()
			random, best := p.points(), map[string]float64{}
			p.move(random, Start(p, 1), 2)
			if *flagImpulses {
				for seed := range uint32(3) {
					list := p.points()
					p.move(list, impulses(p, seed), 2)
					for _, f := range list {
						best[f.Point] = max(best[f.Point], f.Share)
					}
				}
			}
			least, leastOf, better, none := math.Inf(1), math.Inf(1), 0, 0
			for _, f := range random {
				if f.Share == 0 {
					none++
					continue
				}
				least, leastOf = min(least, f.Share), min(leastOf, best[f.Point])
				if best[f.Point] > f.Share {
					better++
				}
			}
			if none != unused[name] || least < 10 {
				t.Errorf("%s in %s: %d points count for nothing, and one moves no answer by more than %.2g bounds", name, dtype, none, least)
			}
			if *flagImpulses {
				t.Logf("%s in %s: of %d points the faintest moves an answer by %.2g bounds; from impulses by %.2g, and %d points by more than from random values", name, dtype, len(random), least, leastOf, better)
			}
		}
	}
}

// A step from impulses gives products with one weight, whose bound is below a hundredth of each: where float16 computes, only there a
// weight that is so much off shows. Cells that no impulse reaches are 0.
func TestImpulsesShowAWeightThatIsAHundredthOff(t *testing.T) {
	text := "NumDimensions 2 StencilSize (1, 1) Boundary mirror CellValue { return 0.3 * get(0, 0) + 0.2 * get(-1, 0) + %g * get(1, 0) + 0.15 * get(0, -1) + 0.3 * get(0, 1); }"
	p := Problem{Stencil: mustParse(t, fmt.Sprintf(text, 0.05)), DType: Float16x2, Size: Size{200, 90, 1}, Impulses: true}
	v := Judge(p, 5, 1)
	none, seen := 0, 0
	for i, w := range v.Want {
		if b := v.Bound[i]; w == 0 && b != 0 || b > 0.0075*w || w != 0 && b < Float16.Epsilon()*w {
			t.Fatalf("cell %d is %g, with a bound of %g", i, w, b)
		} else if w == 0 {
			none++
		}
	}
	p.Stencil = mustParse(t, fmt.Sprintf(text, 0.0505))
	for i, w := range Expected(p, 5, 1) {
		if math.Abs(w-v.Want[i]) > v.Bound[i] {
			seen++
		}
	}
	if none < len(v.Want)/2 || seen < len(v.Want)/100 {
		t.Errorf("of %d cells %d are 0, and %d show a weight", len(v.Want), none, seen)
	}
}
