package kernels

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A spelling that finds nothing leaves a kernel with words that mean something else: float16x2 once read beyond its arrays for it.
func TestEverySpellingFindsText(t *testing.T) {
	var texts []string
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".cu") {
			return err
		}
		b, err := os.ReadFile(path)
		texts = append(texts, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var lists [][]spelling
	for _, s := range spellings {
		lists = append(lists, s.so, s.otherwise)
	}
	for _, list := range lists {
		at := slices.Clone(texts)
		for _, s := range list { // in turn, as they are said
			if !slices.ContainsFunc(at, func(t string) bool { return s.of(t) != t }) {
				t.Errorf("no kernel has %s", s.general())
			}
			for i := range at {
				at[i] = s.of(at[i])
			}
		}
	}
}
