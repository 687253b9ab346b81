package search_test

import (
	"testing"

	"stenciltune/outcome"
	"stenciltune/search"
	"stenciltune/search/searchtest"
)

// BenchmarkAskTell reports what a trial costs over 300 and 1,000 trials on a
// large space, asked for eight at a time, construction apart.
func BenchmarkAskTell(b *testing.B) {
	l, smooth := searchtest.Jagged(0)
	prior := searchtest.Prior(l, smooth, searchtest.Noisy)
	for _, name := range search.Names() {
		for _, trials := range []int{300, 1000} {
			b.Run(name+"/trials="+map[int]string{300: "300", 1000: "1000"}[trials], func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					s, err := search.New(name, search.Options{Space: l.Space, Prior: prior, Seed: 1})
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					for range trials / 8 {
						var told []outcome.Outcome
						for _, a := range s.Ask(8) {
							told = append(told, l.Measure(a))
						}
						s.Tell(told)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*(trials/8*8)), "ms/trial")
			})
		}
	}
}

// BenchmarkNew is the construction over a large space, without the prior.
func BenchmarkNew(b *testing.B) {
	l, _ := searchtest.Jagged(0)
	b.ReportMetric(float64(l.Space.Size()), "schedules")
	for _, name := range []string{"random", "bayes"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := search.New(name, search.Options{Space: l.Space, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
