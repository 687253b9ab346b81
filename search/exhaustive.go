package search

// newExhaustive proposes every schedule of the space.
func newExhaustive(p *pool, _ uint64) (Strategy, error) {
	return &line{pool: p, name: "exhaustive", order: p.mixed()}, nil
}

// run is how many neighbours of the canonical order an exhaustive walk takes together:
// those of one source are near each other, and it is compiled once for all.
const run = 16

// mixed is all points in runs that are spread over the canonical order, so that a walk meets
// all families from the beginning: those that share sources keep the device busy while those
// that do not compile, and a walk that is cut short is a sample of the space.
func (c *catalog) mixed() []int32 {
	runs := (c.size + run - 1) / run
	step := max(1, int(float64(runs)*0.6180339887498949)) // the golden ratio spreads best (Knuth, volume 3, section 6.4)
	for gcd(step, runs) > 1 {
		step++
	}
	order := make([]int32, 0, c.size)
	for i, at := 0, 0; i < runs; i, at = i+1, (at+step)%runs {
		for q := at * run; q < min((at+1)*run, c.size); q++ {
			order = append(order, int32(q))
		}
	}
	return order
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
