package space

import (
	"runtime"
	"sync"
)

// Each is f of every schedule of a list, in its order, shared out among the processors: f is
// called from several goroutines at once.
func Each[V any](list []Schedule, f func(Schedule) V) []V {
	values := make([]V, len(list))
	share := len(list)/runtime.GOMAXPROCS(0) + 1
	var all sync.WaitGroup
	for first := 0; first < len(list); first += share {
		all.Go(func() {
			for i := first; i < min(first+share, len(list)); i++ {
				values[i] = f(list[i])
			}
		})
	}
	all.Wait()
	return values
}
