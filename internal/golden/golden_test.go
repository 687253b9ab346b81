package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that keeps complaints instead of failing.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }
func (r *recorder) Fatal(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Error(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)) }

func TestMismatchLeavesGotAndUpdateAcceptsIt(t *testing.T) {
	base := filepath.Join(t.TempDir(), "sub", "case")

	r := &recorder{TB: t}
	check(r, base+".golden", base+".got", []byte("a\nb\n"), true)
	check(r, base+".golden", base+".got", []byte("a\nb\n"), false)
	if r.said != nil {
		t.Fatalf("equal bytes were refused: %v", r.said)
	}

	check(r, base+".golden", base+".got", []byte("a\nc\n"), false)
	if len(r.said) != 1 || !strings.Contains(r.said[0], "line 2:") || !strings.Contains(r.said[0], `want "b"`) {
		t.Errorf("a mismatch said %q", r.said)
	}
	if got, err := os.ReadFile(base + ".got"); err != nil || string(got) != "a\nc\n" {
		t.Errorf(".got holds %q, %v", got, err)
	}

	r.said = nil
	check(r, base+".golden", base+".got", []byte("a\nc\n"), true)
	check(r, base+".golden", base+".got", []byte("a\nc\n"), false)
	if r.said != nil {
		t.Errorf("after an update: %v", r.said)
	}
	if _, err := os.Stat(base + ".got"); !os.IsNotExist(err) {
		t.Errorf(".got was left behind: %v", err)
	}
}

func TestOneLineMoreIsADifference(t *testing.T) {
	if line, _, is := firstDifference([]byte("a"), []byte("a\n")); line != 2 || string(is) != "" {
		t.Errorf("line %d, got %q", line, is)
	}
}
