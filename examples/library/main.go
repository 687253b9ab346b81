// Command library tunes jacobi3d from a module of its own. On a GPU: "0" for "replay:h200".
package main

import (
	"context"
	"fmt"
	"log"

	"stenciltune/tuner"
)

func main() {
	tuner.Worker() // on a GPU, children of this program own it and compile for it
	ctx := context.Background()
	t, err := tuner.Open("") // the user's own store
	p, err2 := tuner.Spec{Stencil: "jacobi3d"}.Problem()
	d, err3 := tuner.OpenDevice(ctx, "replay:h200", p)
	if err != nil || err2 != nil || err3 != nil {
		log.Fatal(err, err2, err3)
	}
	defer d.Close()
	c, err := t.Tune(ctx, p, d, tuner.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.0f GCells/s\n", c.Schedule.Text, c.Measured.CellsPerSecond/1e9)
}
