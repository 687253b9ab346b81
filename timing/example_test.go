package timing_test

import (
	"fmt"

	"stenciltune/timing"
)

func ExampleSampler() {
	clock := []float64{210e-6, 200e-6, 201e-6, 200e-6, 201e-6, 200e-6, 200e-6, 201e-6, 200e-6, 200e-6}
	const launches, steps = 2, 2
	s := timing.NewSampler(timing.Search(), launches, steps)
	for i := 0; s.More(); i++ {
		s.Add(clock[i], false)
	}
	r := s.Series()
	fmt.Printf("%d samples, %.1f us a step, %.1f to %.1f\n", r.N, 1e6*r.Median, 1e6*r.Low, 1e6*r.High)
	// Output:
	// 9 samples, 100.0 us a step, 100.0 to 100.5
}
