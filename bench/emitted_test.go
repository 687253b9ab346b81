package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

// TestEmittedOnTheHost: sources that the host's emulation compiles, on a grid whose rows are no whole vectors.
func TestEmittedOnTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	nvcc, err := filepath.Abs("../device/host/emulation/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{program: program{path: tuneProgram, device: "host", work: t.TempDir()}, nvcc: nvcc, limit: time.Second}
	r, err := b.runEmitted(t.Context(), stenciltest.Lookup(t, "jacobi2d"), problem{"jacobi2d", "float64", "64x48"}, "75x37", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.note)
	for _, v := range r.values {
		// A schedule without stream tiles expects nothing of other grids.
		if v.Unit != "difference" && v.Unit != "expected-ns/step" && !(v.Value > 0) {
			t.Errorf("%v %s", v.Value, v.Unit)
		}
	}
	temporary := stenciltest.Lookup(t, "cahnhilliard")
	if h, err := problemHeader(temporary, "float64"); err != nil || !strings.Contains(string(h), "#define LEFT true, false\n") {
		t.Errorf("%s, %v", h, err)
	}
	other := stenciltest.Lookup(t, "gradient2d")
	other.Scalars = []stencil.Argument{{}}
	if _, err := problemHeader(other, "float32"); err == nil {
		t.Error("a stencil with scalars has a header")
	}
}
