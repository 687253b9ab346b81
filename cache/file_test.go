package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	must(t, WriteFile(path, []byte("one")))
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm()&^0o644 != 0 {
		t.Error(info.Mode())
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	must(t, os.Chtimes(path, old, old))
	must(t, WriteFile(path, []byte("one")))
	if info, _ = os.Stat(path); !info.ModTime().Equal(old) {
		t.Error("the same bytes were written again")
	}
	must(t, os.Chmod(path, 0o600))
	must(t, WriteFile(path, []byte("two")))
	if info, _ = os.Stat(path); info.ModTime().Equal(old) || info.Mode().Perm() != 0o600 {
		t.Error(info.ModTime(), info.Mode())
	}
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("%s", got)
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 {
		t.Errorf("files left: %v", files)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(at("victim"), []byte("old"), 0o644))
	must(t, os.Symlink(at("victim"), at("link")))
	must(t, os.Symlink(at("loop"), at("loop")))
	must(t, syscall.Mkfifo(at("fifo"), 0o600))
	must(t, os.Mkdir(at("folder"), 0o700))
	for _, name := range []string{"link", "loop", "fifo", "folder", "missing/file", "victim/file", strings.Repeat("n", 300)} {
		within(t, 2*time.Second, func() {
			err := WriteFile(at(name), []byte("new"))
			if err == nil || !strings.Contains(err.Error(), at(name)) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, path := range []string{"", "/dev/null"} {
		if WriteFile(path, []byte("new")) == nil {
			t.Errorf("%q was written", path)
		}
	}
	if got, _ := os.ReadFile(at("victim")); string(got) != "old" {
		t.Errorf("the target of a link was changed to %q", got)
	}
}

func TestReadConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	must(t, WriteFile(path, encode(t, testConfig())))
	if _, err := ReadConfig(path); err != nil {
		t.Error(err)
	}
	must(t, WriteFile(path, []byte("{}")))
	if _, err := ReadConfig(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	must(t, WriteFile(path, bytes.Repeat([]byte(" "), MaxConfig+1)))
	if _, err := ReadConfig(path); err == nil || !strings.Contains(err.Error(), "no config") {
		t.Error(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none"), "/dev/zero"} {
		within(t, 5*time.Second, func() {
			if _, err := ReadConfig(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
		})
	}
}
