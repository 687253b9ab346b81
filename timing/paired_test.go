package timing

import (
	"math"
	"math/rand/v2"
	"testing"
)

// series are n times around median with the given relative noise and a drift that
// both series of a pair share.
func series(seed uint64, n int, median, noise float64) []float64 {
	r, s := rand.New(rand.NewPCG(seed, 9)), make([]float64, n)
	for i := range s {
		drift := 1 + 0.05*math.Sin(float64(i)/3)
		s[i] = median * drift * (1 + noise*r.NormFloat64())
	}
	return s
}

func TestPairedComparison(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want bool
	}{
		{"identical", series(1, 30, 1e-3, 0.002), series(1, 30, 1e-3, 0.002), false},
		{"same median, own noise", series(1, 30, 1e-3, 0.002), series(2, 30, 1e-3, 0.002), false},
		{"0.1 % apart without noise: below the resolution", series(1, 30, 1e-3, 0), series(1, 30, 1.001e-3, 0), false},
		{"0.5 % apart is the resolution", series(1, 30, 1e-3, 0), series(1, 30, 1.00501e-3, 0), true},
		{"2 % slower, under a drift of 5 %", series(1, 30, 1e-3, 0.002), series(2, 30, 1.02e-3, 0.002), true},
		{"2 % faster", series(1, 30, 1.02e-3, 0.002), series(2, 30, 1e-3, 0.002), true},
		{"2 % apart under 30 % noise", series(1, 30, 1e-3, 0.3), series(2, 30, 1.02e-3, 0.3), false},
		{"six pairs suffice", series(1, 6, 1e-3, 0), series(1, 6, 1.1e-3, 0), true},
		{"four pairs far apart", []float64{1, 1.1, 1.05, 1}, []float64{2, 2.1, 2.05, 2}, true},
		{"four pairs that mix", []float64{1, 1.1, 1.05, 1.2}, []float64{1.19, 1.3, 1.25, 1.4}, false},
		{"three pairs never", []float64{1, 1, 1}, []float64{9, 9, 9}, false},
		{"the shorter counts", series(1, 30, 1e-3, 0), series(1, 12, 1.02e-3, 0), true},
		{"nothing", nil, nil, false},
		{"nothing against something", nil, []float64{1}, false},
	} {
		if Differ(c.a, c.b) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}

func TestEqualSchedulesAreSeldomCalledDifferent(t *testing.T) {
	wrong := 0
	const trials = 400
	for i := range uint64(trials) {
		if Differ(series(2*i, 30, 1, 0.02), series(2*i+1, 30, 1, 0.02)) {
			wrong++
		}
	}
	if wrong > trials*8/100 { // 4.3 % by the interval alone, fewer with the resolution
		t.Errorf("%d of %d", wrong, trials)
	}
}
