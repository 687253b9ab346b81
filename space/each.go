package space

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each is f of every element of a list, in its order, shared out among the processors: f is
// called from several goroutines at once.
func Each[E, V any](list []E, f func(E) V) []V {
	values := make([]V, len(list))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				values[i] = f(list[i])
			}
		})
	}
	all.Wait()
	return values
}
