package search

import (
	"math"
	"testing"
)

// TestLearn: errors of the prior that were seen elsewhere correct it for schedules
// alike, up to a common factor, and what teaches nothing changes nothing.
func TestLearn(t *testing.T) {
	sp, prior := room()
	l := List(sp, prior)
	var past []Past
	for i, s := range l.c.canonical() {
		if i%3 == 0 {
			continue // never measured
		}
		sc := l.c.schedule(int(s))
		factor := 10.0 // another machine
		if l.c.part(int(s)) == 1 {
			factor *= 2 // and the model is wrong about the second family
		}
		past = append(past, Past{sc, factor * prior(sc), prior(sc)})
	}
	learnt := l.Learn(past)
	var mean [2]float64
	for k, p := range l.c.parts {
		for i := range p.size {
			mean[k] += (learnt.c.prior[p.first+i] - l.c.prior[p.first+i]) / float64(p.size)
		}
	}
	if got := mean[1] - mean[0]; math.Abs(got-math.Log(2)) > 0.15 {
		t.Errorf("the second family is corrected by %.2f against the first, want %.2f", got, math.Log(2))
	}
	if l.Learn(nil) != l || l.Learn(past[:2]) != l || List(sp, nil).Learn(past).c.prior != nil {
		t.Error("nothing was learnt, and yet the listing is another")
	}
}
