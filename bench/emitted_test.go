package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stenciltune/stencil"
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
	s, err := stencil.Lookup("redblack")
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.runEmitted(t.Context(), s, problem{"redblack", "float64", "32x16x16"}, "37x19x23", 1)
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
	temporary, err := stencil.Lookup("cahnhilliard")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := problemHeader(temporary, "float64"); err != nil || !strings.Contains(string(h), "#define LEFT true, false\n") {
		t.Errorf("%s, %v", h, err)
	}
	other, err := stencil.Lookup("gradient2d")
	if err != nil {
		t.Fatal(err)
	}
	other.Scalars = []stencil.Argument{{}}
	if _, err := problemHeader(other, "float32"); err == nil {
		t.Error("a stencil with scalars has a header")
	}
}
