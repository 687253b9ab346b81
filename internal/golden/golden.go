// Package golden compares what a test made with a file under testdata.
//
// It is for tests only. Run `go test PACKAGE -update` to write the files anew,
// then read the difference before it is kept.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with testdata/<name>.golden. On a mismatch it fails the test
// and leaves testdata/<name>.got beside it; with -update it writes the golden file.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	base := filepath.Join("testdata", name)
	check(t, base+".golden", base+".got", got, *update)
}

// File compares got with a file anywhere, such as a drawing in the documentation.
func File(t testing.TB, file string, got []byte) {
	t.Helper()
	check(t, file, file+".got", got, *update)
}

func check(t testing.TB, file, left string, got []byte, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(left)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if bytes.Equal(got, want) {
		_ = os.Remove(left)
		return
	}
	if err := os.WriteFile(left, got, 0o644); err != nil {
		t.Error(err)
	}
	line, was, is := firstDifference(want, got)
	t.Errorf("%s line %d:\n want %q\n got  %q\nthe whole is in %s; -update accepts it", file, line, was, is, left)
}

// firstDifference is the first line, from 1, that is not the same in both.
func firstDifference(want, got []byte) (line int, was, is []byte) {
	w, g := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(w), len(g)) {
		was, is = nil, nil
		if i < len(w) {
			was = w[i]
		}
		if i < len(g) {
			is = g[i]
		}
		if !bytes.Equal(was, is) || i >= len(w) || i >= len(g) {
			return i + 1, was, is
		}
	}
	return 0, nil, nil
}
