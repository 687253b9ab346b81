package kernels

import (
	"math"
	"slices"
	"testing"

	"stenciltune/machine"
	"stenciltune/stencil"
	"stenciltune/stencil/stenciltest"
)

func TestColumnWidthsOfTheThesis(t *testing.T) {
	for _, c := range []struct {
		kib, threads, want int
	}{{32, 1024, 787}, {64, 1024, 1698}, {192, 2048, 5225}} {
		if got := ColumnWidth(c.kib<<10, c.threads, 9, 9, 4); math.Round(got) != float64(c.want) {
			t.Errorf("%d KiB, %d threads: %.1f, want %d", c.kib, c.threads, got, c.want)
		}
	}
	for width, want := range map[float64]int{787.4: 768, 33: 32, 31.9: 0, -5: 0, 64: 64} {
		if got := WarpColumn(width, 4); got != want {
			t.Errorf("%v: %d, want %d", width, got, want)
		}
	}
	if got := WarpColumn(100, 2); got != 64 { // 128 bytes are 64 cells of 2
		t.Errorf("cells of 2 bytes: %d", got)
	}
}

// The formula adds widths where a cache is too small for a grid's rows, and none that are there.
func TestColumnsAreThoseOfTheFormulaToo(t *testing.T) {
	box9 := stenciltest.Lookup(t, "box9")
	usual := []int{0, 32, 64, 1024}
	columns := func(id string, wide int) []int {
		k, err := machine.FindKnown(id)
		if err != nil {
			t.Fatal(err)
		}
		return Columns(stencil.Problem{Stencil: box9, DType: stencil.Float32, Size: stencil.Size{wide, wide, 1}}, k.Machine, usual)
	}
	// (96 KiB - 4 (81 + 1024)) / 36 = 2607.9, in whole warps 2592; L2's 4 MiB less 40 SMs' threads
	// give 111,947, wider than the grid.
	if got := columns("t4", 4096); !slices.Equal(got, []int{0, 32, 64, 1024, 2592}) {
		t.Errorf("T4: %v", got)
	}
	// (256 KiB - 4 (81 + 2048)) / 36 = 7045.2: none on 4096 cells.
	if got := columns("h200", 4096); !slices.Equal(got, usual) {
		t.Errorf("H200: %v", got)
	}
	if got := columns("h200", 8192); !slices.Equal(got, []int{0, 32, 64, 1024, 7040}) {
		t.Errorf("H200, 8192 wide: %v", got)
	}
}
