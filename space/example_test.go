package space_test

import (
	"fmt"

	"stenciltune/space"
)

func Example() {
	s := space.New(&space.Family{
		Name: "box",
		Params: []space.Param{
			{Name: "gx", Doc: "threads on x", Values: []int{16, 32}},
			{Name: "gy", Doc: "threads on y", Values: []int{2, 4}},
		},
		Constraints: []space.Constraint{{
			Name: "threads", Needs: []string{"gx", "gy"}, Why: "a block has at most 64 threads",
			OK: func(v space.Values) bool { return v.Get("gx")*v.Get("gy") <= 64 },
		}},
	})
	for sc := range s.All() {
		fmt.Println(sc)
	}
	sc, _ := space.ParseSchedule("box/gx=32/gy=4")
	fmt.Println(s.Check(sc))
	// Output:
	// box/gx=16/gy=2
	// box/gx=16/gy=4
	// box/gx=32/gy=2
	// box/gx=32/gy=4: illegal schedule (threads): a block has at most 64 threads
}
