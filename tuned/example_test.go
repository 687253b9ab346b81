package tuned_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"stenciltune/cache"
	"stenciltune/tuned"
)

// A program asks for the schedule of its grid. Here the store holds a config that was
// shipped with the program, as tune printed it on another size.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store.db")
	store, err := cache.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	shipped, err := os.Open("testdata/jacobi3d-h200.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shipped.Close()
	if _, err := store.Import(shipped, nil); err != nil {
		fmt.Println(err)
		return
	}

	finder, err := tuned.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := finder.Best(context.Background(), tuned.Problem{Stencil: "jacobi3d", Size: []int{640, 512, 384}}, "NVIDIA H200")
	if errors.Is(err, tuned.ErrNotTuned) {
		fmt.Println("run tune first")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("match:", answer.Grade)
	fmt.Println("family:", answer.Config.Schedule.Family)
	// Output:
	// match: other-size
	// family: stream
}
