package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stenciltune/device"
	"stenciltune/stencil"
)

// runtimes are the parts all programs share that this process has built or found, by name: a program that opens many
// devices needs one. It takes a compiler four seconds, so that they are kept for other processes, too.
var runtimes sync.Map // string to []byte

// compileRuntime writes the headers and the part all programs share, which it builds where it is not kept.
func (d *Device) compileRuntime() error {
	files := map[string]string{"emulation.h": emulation, "input.h": stencil.TypeSource(stencil.Float16) + stencil.TypeSource(stencil.BFloat16) + stencil.InputSource, "runtime.cpp": runtimeSource, "races.h": racesSource}
	all := append(d.flags(forSpeed), d.compiler, d.version, files["emulation.h"], files["input.h"], files["runtime.cpp"], files["races.h"])
	name := fmt.Sprintf("runtime-%x.o", sha256.Sum256([]byte(strings.Join(all, "\x00"))))
	built, found := runtimes.Load(name)
	if !found {
		if object := kept(name); object != nil {
			built, found = object, true
			runtimes.Store(name, object)
		}
	}
	if found {
		files["runtime.o"] = string(built.([]byte))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
			return d.cannotWrite(err.Error())
		}
	}
	if found {
		return nil
	}
	limit, cancel := context.WithTimeout(context.Background(), compileTimeout)
	defer cancel()
	log, err := d.cc(limit, append(d.flags(forSpeed), "-c", "-o", "runtime.o", "runtime.cpp")...)
	if full := fullFolder.FindString(log); err != nil && full != "" {
		return d.cannotWrite(full)
	} else if err != nil {
		return fmt.Errorf("%w: the emulation does not compile with %s: %.500s", device.ErrMissing, d.compiler, firstError(log, err))
	}
	object, err := os.ReadFile(filepath.Join(d.dir, "runtime.o"))
	if err != nil {
		return fmt.Errorf("%w: %s compiles, but writes nothing: %w", device.ErrMissing, d.compiler, err)
	}
	runtimes.Store(name, object)
	keep(name, object)
	return nil
}

// mostKept is how many files the folder of runtimes has at most: one for each compiler, flags and revision, of 80 KB.
const mostKept = 16

// keptFolder is where runtimes are kept, in the user's folder for caches; "" if there is none.
func keptFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tune")
}

// kept is a runtime that a process has kept, whole; nil if there is none. Its checksum is at its end.
func kept(name string) []byte {
	dir := keptFolder()
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	object := b[:len(b)-sha256.Size]
	if sum := sha256.Sum256(object); !bytes.Equal(sum[:], b[len(object):]) {
		return nil
	}
	_ = os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now()) // what nobody uses goes first
	return object
}

// keep keeps a runtime. Where that fails the next process builds its own.
func keep(name string, object []byte) {
	dir := keptFolder()
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	sum := sha256.Sum256(object)
	_, err = f.Write(append(slices.Clip(object), sum[:]...))
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), filepath.Join(dir, name)) != nil {
		return
	}
	old, _ := filepath.Glob(filepath.Join(dir, "runtime-*.o"))
	age := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(old, func(a, b string) int { return int(min(1, max(-1, age(b)-age(a)))) })
	for _, path := range old[min(len(old), mostKept):] {
		_ = os.Remove(path) // another process may have
	}
}
