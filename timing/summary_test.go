package timing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// covers95 tells, exactly, whether with a probability of 95 % the interval
// between the order statistics k and n-1-k holds the median: 1 - 2 P(Bin <= k).
func covers95(n, k int) bool {
	tail, c := new(big.Int), big.NewInt(1) // c = binomial(n, i)
	for i := range int64(k + 1) {
		tail.Add(tail, c)
		c.Mul(c, big.NewInt(int64(n)-i)).Quo(c, big.NewInt(i+1))
	}
	// 1 - 2 tail / 2^n >= 19/20  <=>  40 tail <= 2^n
	return tail.Mul(tail, big.NewInt(40)).Cmp(new(big.Int).Lsh(big.NewInt(1), uint(n))) <= 0
}

func TestIntervalIsTheNarrowestThatCovers95Percent(t *testing.T) {
	for n := 1; n <= 100; n++ {
		k := intervalRank(n)
		if n < 6 {
			if k != 0 {
				t.Errorf("n = %d: rank %d, want the whole range", n, k)
			}
			if n > 1 && covers95(n, 0) {
				t.Errorf("n = %d: the whole range covers 95 %%, against what the comment says", n)
			}
			continue
		}
		if !covers95(n, k) {
			t.Errorf("n = %d: [x(%d), x(%d)] covers less than 95 %%", n, k, n-1-k)
		}
		if covers95(n, k+1) {
			t.Errorf("n = %d: [x(%d), x(%d)] covers 95 %% too and is narrower", n, k+1, n-2-k)
		}
	}
}

func TestIntervalOfVeryManySamplesStaysAtTheMedian(t *testing.T) {
	for _, n := range []int{999, 1000, 1001, 1074, 1075, 1100, 2500, 10001} {
		k := intervalRank(n)
		if !covers95(n, k) || covers95(n, k+3) {
			t.Errorf("n = %d: rank %d; covers 95 %%: %v", n, k, covers95(n, k))
		}
	}
}

func TestIntervalHoldsTheTrueMedianAsOftenAsItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials, n = 4000, 30
	hit := 0
	for range trials {
		s := make([]float64, n)
		for i := range s {
			s[i] = r.ExpFloat64() // skewed, as times are
		}
		if m := Summarise(s); m.Low <= math.Ln2 && math.Ln2 <= m.High {
			hit++
		}
	}
	if share := float64(hit) / trials; share < 0.94 || share > 0.985 { // exact: 0.957
		t.Errorf("covered in %.3f of the trials", share)
	}
}

func TestSummaryOfSmallSamples(t *testing.T) {
	for _, c := range []struct {
		samples []float64
		want    Summary
	}{
		{nil, Summary{}},
		{[]float64{3}, Summary{Median: 3, Low: 3, High: 3, Min: 3, N: 1}},
		{[]float64{3, 1}, Summary{Median: 2, Low: 1, High: 3, Min: 1, N: 2}},
		{[]float64{5, 1, 3, 2, 4}, Summary{Median: 3, Low: 1, High: 5, Min: 1, N: 5}},
		{[]float64{6, 5, 4, 3, 2, 1}, Summary{Median: 3.5, Low: 1, High: 6, Min: 1, N: 6}},
		// C(9,0) + C(9,1) = 10 of 512: 96.1 % between the second and the eighth.
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, Summary{Median: 5, Low: 2, High: 8, Min: 1, N: 9}},
		{[]float64{2, 2, 2}, Summary{Median: 2, Low: 2, High: 2, Min: 2, N: 3}},
	} {
		before := slices.Clone(c.samples)
		if got := Summarise(c.samples); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.samples, got, c.want)
		}
		if !slices.Equal(before, c.samples) {
			t.Errorf("%v was reordered to %v", before, c.samples)
		}
	}
}

func TestHalfWidthAndOverlap(t *testing.T) {
	s := Summary{Median: 2, Low: 1.9, High: 2.1, N: 9}
	if w := s.RelHalfWidth(); math.Abs(w-0.05) > 1e-15 {
		t.Errorf("half width %v", w)
	}
	for _, none := range []Summary{{}, {N: 3}, {N: 3, Median: -1}} {
		if !math.IsInf(none.RelHalfWidth(), 1) {
			t.Errorf("%+v: half width %v", none, none.RelHalfWidth())
		}
	}
	for _, c := range []struct {
		low, high float64
		want      bool
	}{{2.1, 3, true}, {2.11, 3, false}, {1, 1.9, true}, {1, 1.89, false}, {1.95, 2, true}, {1, 3, true}} {
		o := Summary{Low: c.low, High: c.high, N: 9}
		if s.Overlaps(o) != c.want || o.Overlaps(s) != c.want {
			t.Errorf("[%v, %v] overlaps: %v", c.low, c.high, !c.want)
		}
	}
}

func TestStatusesAreTimedOrFailedOrNeither(t *testing.T) {
	for s, want := range map[Status][2]bool{
		OK: {true, false}, CutSlow: {true, false},
		Rejected: {false, true}, CompileError: {false, true}, CompileTimeout: {false, true}, LaunchError: {false, true},
		Timeout: {false, true}, WrongAnswer: {false, true}, WorkerLost: {false, true},
		Skipped: {false, false}, "": {false, false},
	} {
		if s.Timed() != want[0] || s.Failed() != want[1] {
			t.Errorf("%q: timed %v, failed %v", s, s.Timed(), s.Failed())
		}
	}
}

func TestDigitsAreSignificantOnes(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want float64
	}{
		{0.0123456789, 3, 0.0123}, {123456.7, 3, 123000}, {-9.9996, 4, -10}, {1e-300 / 3, 2, 3.3e-301}, {0, 5, 0},
		{math.Inf(1), 3, math.Inf(1)}, {math.MaxFloat64, 3, math.MaxFloat64},
	} {
		if got := Digits(c.v, c.n); got != c.want {
			t.Errorf("%d digits of %v: %v, want %v", c.n, c.v, got, c.want)
		}
	}
	if got := Digits(math.NaN(), 3); !math.IsNaN(got) {
		t.Errorf("NaN: %v", got)
	}
}
