// Package stenciltest has what tests of several packages need of stencils.
package stenciltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stenciltune/stencil"
)

// Lookup is a stencil of the catalogue. It ends the test if there is none.
func Lookup(t testing.TB, name string) *stencil.Stencil {
	t.Helper()
	s, err := stencil.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Parse is the stencil of a text. It ends the test if the text is none.
func Parse(t testing.TB, name, text string) *stencil.Stencil {
	t.Helper()
	s, err := stencil.Parse(name, name+".sl", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// File is the stencil of a file, which has the file's name. It ends the test if
// the file holds none.
func File(t testing.TB, path string) *stencil.Stencil {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, strings.TrimSuffix(filepath.Base(path), ".sl"), string(text))
}
