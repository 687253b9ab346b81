package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What one process has built serves the next, unless the file was damaged.
func TestRuntimesAreKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	object := bytes.Repeat([]byte("object"), 1000)
	if kept("runtime-a.o") != nil {
		t.Error("kept before it was built")
	}
	keep("runtime-a.o", object)
	if !bytes.Equal(kept("runtime-a.o"), object) {
		t.Error("another than was kept")
	}
	path := filepath.Join(keptFolder(), "runtime-a.o")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	turned := bytes.Clone(whole)
	turned[1234] ^= 1
	for what, damaged := range map[string][]byte{"cut": whole[:5000], "empty": {}, "a byte turned": turned} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if kept("runtime-a.o") != nil {
			t.Errorf("%s: taken", what)
		}
	}
	for i := range mostKept + 4 {
		keep(fmt.Sprintf("runtime-%d.o", i), object)
	}
	left, err := os.ReadDir(keptFolder())
	if err != nil || len(left) != mostKept {
		t.Errorf("%d files of %d are left (%v)", len(left), mostKept, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if kept("runtime-3.o") != nil {
		t.Error("found without a folder")
	}
	keep("runtime-a.o", object) // goes nowhere
}
