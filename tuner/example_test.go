package tuner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"stenciltune/tuner"
)

// A stencil is tuned on a recording of an H200, and asked for on another grid.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)

	t, err := tuner.Open(filepath.Join(dir, "store.db"))
	check(err)
	p, err := tuner.Spec{Stencil: "jacobi3d"}.Problem()
	check(err)
	d, err := tuner.OpenDevice(ctx, "replay:h200", p)
	check(err)
	defer d.Close()
	c, err := t.Tune(ctx, p, d, tuner.Options{})
	check(err)
	fmt.Println(c.Schedule.Text)
	fmt.Printf("%.0f GCells/s, %.1f times naive\n", c.Measured.CellsPerSecond/1e9, c.Speedup)

	other, err := tuner.Spec{Stencil: "jacobi3d", Size: "640x512x384"}.Problem()
	check(err)
	a, err := t.Best(ctx, other, d.Machine(), "")
	check(err)
	fmt.Println(a.Grade, a.Config.Schedule.Family)
	// Output:
	// stream/vx=2/vy=8/wp=8/ck=3/pf=4/mb=1/ph=4/pm=1
	// 1563 GCells/s, 5.9 times naive
	// other-size stream
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
