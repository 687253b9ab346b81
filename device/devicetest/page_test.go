package devicetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of what was broken on purpose names tests that are there, and counts the corpus as it is.
func TestThePageOfReliabilityNamesTests(t *testing.T) {
	top := filepath.Join("..", "..")
	b, err := os.ReadFile(filepath.Join(top, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	stencils := map[string]bool{}
	for _, m := range Mutations() {
		stencils[m.Stencil] = true
	}
	for _, want := range []string{fmt.Sprintf("is %d mutations:", len(Mutations())), fmt.Sprintf(" %d stencils.", len(stencils))} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)").FindAllStringSubmatch(page, -1)
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("there is no %s", m[1])
		}
	}
	if len(named) < 60 {
		t.Errorf("the page names %d tests", len(named))
	}
}
