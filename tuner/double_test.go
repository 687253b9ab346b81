package tuner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/kernels"
	"stenciltune/runner"
	"stenciltune/search"
	"stenciltune/stencil"
	"stenciltune/timing"
)

// A weight so small that rounding hides it in float32 is wrong in every kernel: only the proof in float64 sees that.
func TestWhatFloat32HidesIsFoundInFloat64(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	file := filepath.Join(t.TempDir(), "faint.sl")
	text := "NumDimensions 1\nStencilSize (1)\nDataType float\nBoundary clamp\nDefaultSize (4096)\nSteps 10\nCellValue {\n  return 0.5 * get(0) + 0.5 * get(1) + 1e-10 * get(-1);\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Spec{Stencil: file}.Problem()
	if err != nil {
		t.Fatal(err)
	}
	d, err := OpenDevice(t.Context(), "host", p)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	tune := func(old, new string) (Config, error) {
		store, err := Open(filepath.Join(t.TempDir(), "store.db"))
		if err != nil {
			t.Fatal(err)
		}
		store.Mutate = func(k kernels.Kernel) kernels.Kernel {
			k.Source = strings.ReplaceAll(k.Source, old, new)
			return k
		}
		return store.Tune(t.Context(), p, d, Options{Stop: search.Stop{Budget: 3}})
	}
	c, err := tune("1e-10", "1e-10")
	if err != nil {
		t.Fatal(err)
	}
	if last := c.Verification.Checks[len(c.Verification.Checks)-1]; last.DType != string(stencil.Float64) || last.MaxError > last.Tolerance || last.Tolerance > 1e-13 {
		t.Errorf("the last check of the right winner: %+v", last)
	}
	_, err = tune("1e-10", "9e-10")
	none, ok := errors.AsType[*runner.ErrNoSchedule](err)
	if !ok || none.Failed[timing.WrongAnswer] == 0 { // of three at most: those that are slow are cut short
		t.Errorf("kernels of a wrong weight: %v", err)
	}
}
