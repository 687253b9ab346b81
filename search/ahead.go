package search

import "math"

// Ahead decides how many schedules to have under way before the device: enough
// that it never waits for a compiler, and no more, because what is asked for early
// is asked for without the answers that come meanwhile.
type Ahead struct {
	Most    int // at most, beside those that Others run
	Others  int // devices beside the first
	n       int
	compile float64
	device  float64
}

// aheadStart is the schedules before their costs count; until then half of the
// most are under way.
const aheadStart = 8

// aheadMemory is the schedules over which costs are averaged, exponentially.
const aheadMemory = 20

// Add takes the seconds that a schedule took to compile and then on its device.
func (a *Ahead) Add(compile, device float64) {
	a.n++
	w := 1 / float64(min(a.n, aheadMemory))
	a.compile += w * (compile - a.compile)
	a.device += w * (device - a.device)
}

// Depth is how many to have under way now: what the device measures while one
// compiles, half as many again for those that take longer, and two to choose from; and
// those that the other devices run.
func (a *Ahead) Depth() int {
	most := max(a.Most, 1)
	if a.n < aheadStart || !(a.device > 0) {
		return (most+1)/2 + a.Others
	}
	return min(most, 2+int(math.Ceil(1.5*a.compile*float64(1+a.Others)/a.device))) + a.Others
}
