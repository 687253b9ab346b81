package search

// newExhaustive proposes every schedule of the space.
func newExhaustive(p *pool, _ uint64) (Strategy, error) {
	return &line{pool: p, name: "exhaustive", order: p.mixed()}, nil
}

// lag is how many sources later an exhaustive search comes back to one: it is compiled by
// then, and all its other schedules need no compiler.
const lag = 64

// mixed is all points, their sources spread over the canonical order, so that a search meets
// all families from the beginning and one that is cut short is a sample of the space: of each
// source one schedule, and the others lag sources later.
func (c *enumeration) mixed() []int32 {
	sources := c.sources()
	n := len(sources)
	step := max(1, int(float64(n)*0.6180339887498949)) // the golden ratio spreads best (Knuth, volume 3, section 6.4)
	for gcd(step, n) > 1 {
		step++
	}
	order := make([]int32, 0, c.size)
	for i := range n + lag {
		if i < n {
			order = append(order, sources[i*step%n][0])
		}
		if i >= lag {
			order = append(order, sources[(i-lag)*step%n][1:]...)
		}
	}
	return order
}

// sources is the points that share a kernel's source, source by source.
func (c *enumeration) sources() [][]int32 {
	var list [][]int32
	at := map[source]int{}
	for q := range c.size {
		of := c.source(q)
		if _, seen := at[of]; !seen {
			at[of] = len(list)
			list = append(list, nil)
		}
		list[at[of]] = append(list[at[of]], int32(q))
	}
	return list
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
